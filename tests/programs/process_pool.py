import multiprocessing
from concurrent.futures import ProcessPoolExecutor


def square(n):
    return n * n


if __name__ == "__main__":
    print("cores", multiprocessing.cpu_count() > 0)
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(square, range(6))))
    with multiprocessing.Pool(2) as pool:
        print(pool.map(square, [7, 8]))
        print(pool.starmap(pow, [(2, 3), (3, 2)]))
