# The examples of "concurrent.futures", which run their tasks in turn.
import concurrent.futures, math, time
from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor, as_completed, wait

PRIMES = [112272535095293, 112582705942171, 115280095190773, 115797848077099, 1099726899285419]

def is_prime(n):
    if n % 2 == 0:
        return n == 2
    return all(n % i for i in range(3, min(math.isqrt(n), 10_000) + 1, 2))

with concurrent.futures.ProcessPoolExecutor() as executor:
    for number, prime in zip(PRIMES, executor.map(is_prime, PRIMES)):
        print("%d is prime: %s" % (number, prime))
#> 112272535095293 is prime: True
#> 112582705942171 is prime: True
#> 115280095190773 is prime: True
#> 115797848077099 is prime: True
#> 1099726899285419 is prime: True

def load(url, timeout):
    if "nonexistent" in url:
        raise OSError("cannot be loaded")
    return b"x" * len(url)

URLS = ["http://a.example/", "http://nonexistent.example/", "http://longer.example/page"]
with concurrent.futures.ThreadPoolExecutor(max_workers=5) as executor:
    future_to_url = {executor.submit(load, url, 60): url for url in URLS}
    for future in sorted(concurrent.futures.as_completed(future_to_url), key=future_to_url.get):
        url = future_to_url[future]
        try:
            data = future.result()
        except Exception as exc:
            print("%r generated an exception: %s" % (url, exc))
        else:
            print("%r page is %d bytes" % (url, len(data)))
#> 'http://a.example/' page is 17 bytes
#> 'http://longer.example/page' page is 26 bytes
#> 'http://nonexistent.example/' generated an exception: cannot be loaded

with ThreadPoolExecutor(2, thread_name_prefix="worker") as executor:
    futures = [executor.submit(pow, 2, n) for n in range(4)]
    done, not_done = wait(futures, timeout=1, return_when=concurrent.futures.ALL_COMPLETED)
    print(len(done), len(not_done), [f.result(timeout=1) for f in futures])
    futures[0].add_done_callback(lambda f: print("callback", f.result()))
    print(futures[0].done(), futures[0].running(), futures[0].cancel(), futures[0].cancelled())
    print(isinstance(executor, concurrent.futures.Executor), type(executor).__module__, executor._max_workers)
try:
    executor.submit(print)
except RuntimeError as error:
    print(error)
#> 4 0 [1, 2, 4, 8]
#> callback 1
#> True False False False
#> True concurrent.futures.thread 2
#> cannot schedule new futures after shutdown

class Counting(ThreadPoolExecutor):
    handed = 0
    def submit(self, *args, **kwargs):
        self.handed += 1
        return super().submit(*args, **kwargs)

with Counting() as executor:
    print(list(executor.map(str, range(3))), executor.handed)
#> ['0', '1', '2'] 3
# --- turn ---
with ThreadPoolExecutor() as executor:
    executor.submit(lambda: 1 / 0).result()
#! ZeroDivisionError: division by zero
# --- turn ---
import joblib, warnings, os
warnings.simplefilter("error")
for backend in ("loky", "threading", "multiprocessing", "sequential"):
    print(joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(pow)(2, n) for n in range(3)))
print(joblib.Parallel(n_jobs=-1)(joblib.delayed(abs)(-n) for n in range(3)), os.cpu_count(), joblib.cpu_count())
print(list(joblib.Parallel(n_jobs=2, return_as="generator")(joblib.delayed(abs)(-n) for n in range(3))))
#> [1, 2, 4]
#> [1, 2, 4]
#> [1, 2, 4]
#> [1, 2, 4]
#> [0, 1, 2] 1 1
#> [0, 1, 2]
# --- turn ---
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
X, y = make_classification(60, random_state=0)
forest = RandomForestClassifier(n_estimators=4, n_jobs=-1, random_state=0).fit(X, y)
print(forest.score(X, y) > 0.8, len(cross_val_score(forest, X, y, cv=3, n_jobs=-1)))
print(sorted(GridSearchCV(forest, {"max_depth": [1, 2]}, cv=2, n_jobs=2).fit(X, y).best_params_))
#> True 3
#> ['max_depth']
