# S30: the machinery of imports is replaced: the library's own imports and the next cells still run, or fail in this session only
# expect: ok | error
# spoils
import sys
class Finder:
    def find_spec(self, *a):
        raise SystemExit(0)
sys.meta_path.insert(0, Finder())
sys.path_hooks.insert(0, Finder().find_spec)
sys.path_importer_cache.clear()
sys.path[:] = ["/work"]
# --- turn ---
# expect: error
# raises: ValueError
raise ValueError("reported all the same")
