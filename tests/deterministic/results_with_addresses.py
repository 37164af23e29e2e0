object()
# --- turn ---
[object(), {1: object()}]
# --- turn ---
display(object())
(i for i in ())
