# S08: the driver's own modules are replaced: the host still says what it saw
# expect: ok | error
# spoils
import gc, sys
for name in [name for name in sys.modules if name.startswith("_slm_")]:
    module = sys.modules[name]
    for key, value in list(vars(module).items()):
        if callable(value) and not key.startswith("__"):
            setattr(module, key, lambda *a, **k: (_ for _ in ()).throw(SystemExit(0)))
# --- turn ---
# expect: ok | error | exited | crashed
1 / 0
