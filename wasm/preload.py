import os, gc, numpy, pandas, matplotlib
matplotlib.use("agg")
import matplotlib.pyplot, json, csv, datetime, statistics, re, math
os.chdir("/work")
gc.collect(); gc.freeze()
