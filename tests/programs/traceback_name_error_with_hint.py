import math

radius = 3
print("radius", radius)
print("area", round(math.pi * radius ** 2, 2))
print("circumference", round(2 * math.pi * radius, 2))
print("diameter", 2 * raduis)
