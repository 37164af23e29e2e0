from concurrent.futures import ThreadPoolExecutor, as_completed

def square(n):
    return n * n

with ThreadPoolExecutor(max_workers=4) as executor:
    print(list(executor.map(square, range(6))))
    futures = {executor.submit(square, n): n for n in (3, 4)}
    for future in as_completed(futures):
        pass
    print(sorted((n, future.result()) for future, n in futures.items()))
