from multiprocessing import Pool

def cube(n):
    return n ** 3

if __name__ == "__main__":
    with Pool(processes=2) as pool:
        print(pool.map(cube, [1, 2, 3, 4]))
        print(pool.starmap(pow, [(2, 3), (3, 2)]))
