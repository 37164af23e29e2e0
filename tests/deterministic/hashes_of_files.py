import hashlib, os, random
for i in range(5):
    with open(f"/work/{i}.bin", "wb") as f:
        f.write(random.randbytes(1000 * i))
# --- turn ---
os.remove("/work/1.bin")
open("/work/2.bin", "ab").write(os.urandom(10))
# --- turn ---
print(sum(os.path.getsize("/work/" + n) for n in os.listdir("/work")), sorted(os.listdir("/work")))
