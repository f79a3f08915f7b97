# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the tables of TestPeers and says whether they are as written."""
import math
import sys

import openpyxl
import pandas
import pyarrow.parquet

folder = sys.argv[1] + "/"

sheet = openpyxl.load_workbook(folder + "fits.xlsx")["results"]
rows = [list(r) for r in sheet.iter_rows(values_only=True)]
assert rows == [["zebra", "bin", "tau (s)", "good"], ["a.hdf", 1, 0.1, True], ['=1+2, "b"', 2, None, False], ["µ", 2**63 - 1, "+Inf", True]], rows
assert sheet["A3"].data_type in ("s", "inlineStr") and sheet["A1"].font.bold and not sheet["A2"].font.bold and sheet.freeze_panes == "A2"

table = pyarrow.parquet.read_table(folder + "fits.parquet")
assert table.column_names == ["zebra", "bin", "tau (s)", "good"], table.schema
assert [str(t) for t in table.schema.types] == ["string", "int64", "double", "bool"], table.schema
assert table.to_pydict() == {"zebra": ["a.hdf", '=1+2, "b"', "µ"], "bin": [1, 2, 2**63 - 1], "tau (s)": [0.1, None, math.inf], "good": [True, False, True]}

for many in (pandas.read_parquet(folder + "many.parquet"), pandas.read_excel(folder + "many.xlsx", engine="openpyxl")):
    assert len(many) == 70000 and len(many.columns) == 18
    for i in (0, 1, 2, 3, 65535, 65536, 65537, 69999):
        row = many.iloc[i]
        assert math.isnan(row["x"]) if i % 3 == 2 else row["x"] == 1 / (i + 1), row
        assert row["y"] == -i and row["z13 (nm)"] == -i and row["s"] == f"row {i}" and row["good"] == (i % 2 == 0), row
    assert many["x"].isna().sum() == 23333

assert len(pandas.read_parquet(folder + "none.parquet")) == 0 and list(pandas.read_excel(folder + "none.xlsx").columns) == ["x (s)"]
print("as written")
