from datetime import datetime

import numpy as np
from nptdms import ChannelObject, GroupObject, RootObject, TdmsFile, TdmsWriter

dice = np.random.default_rng(16)
root = RootObject({"author": "me", "when": np.datetime64("2024-05-01T12:00:00")})
group = GroupObject("measured", {"gain": 1.5, "number": 3})
with TdmsWriter("data.tdms") as writer:
    for dtype in (np.float32, np.int16, np.float64):
        values = (100 * dice.random(20)).astype(dtype)
        channel = ChannelObject(
            "measured", np.dtype(dtype).name, values, {"wf_increment": 0.1, "wf_start_offset": 0.0}
        )
        writer.write_segment([root, group, channel])
    times = np.datetime64(datetime(2024, 1, 1), "us") + np.arange(3)
    writer.write_segment(
        [ChannelObject("measured", "times", times), ChannelObject("measured", "text", ["a", "bc"])]
    )
file = TdmsFile.read("data.tdms")
print(file.properties, [each.name for each in file.groups()], file["measured"].properties)
for channel in file["measured"].channels():
    print(channel.name, channel.dtype, len(channel), repr(channel[:2]))
print(file["measured"]["float32"].time_track()[:3])
with TdmsFile.open("data.tdms") as lazy:
    print(
        lazy["measured"]["int16"][3:9:2], lazy["measured"]["float64"].read_data(offset=2, length=3).round(4)
    )
    print(sum(len(chunk) for chunk in lazy["measured"]["float32"].data_chunks()))
try:
    file["nothing"]
except KeyError as error:
    print(repr(error))
