#!/usr/bin/env bash
# SimpleITK 2.5.7 (GDCM) unpacks images of one bit a pixel of DICOM files, as masks are stored, by whole bytes: where the last byte holds fewer than
# eight pixels, these have arbitrary values, without an error. Frames follow one another without padding and are right up to there, so it is the
# corner of the last one. All others are 255, where pydicom 3.0.2 has 1 and every pixel. Images of a multiple of eight pixels are complete.
# Seen with numpy 2.4.6, on CPython 3.11:
#     1 frames of 3 x 3 ones: the first 8 are 255 True, all False
#     1 frames of 2 x 4 ones: the first 8 are 255 True, all True
#     2 frames of 3 x 5 ones: the first 24 are 255 True, all False
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pydicom==3.0.2 simpleitk==2.5.7 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import numpy as np, pydicom, SimpleITK
from pydicom.dataset import Dataset, FileMetaDataset

def written(path, x):
    data = Dataset()
    data.file_meta = FileMetaDataset()
    data.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID = pydicom.uid.MultiFrameSingleBitSecondaryCaptureImageStorage
    data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID = data.StudyInstanceUID = data.SeriesInstanceUID = "1.2.3"
    data.Modality, data.SamplesPerPixel, data.PhotometricInterpretation, data.PixelRepresentation = "OT", 1, "MONOCHROME2", 0
    data.NumberOfFrames, data.Rows, data.Columns = x.shape
    data.BitsAllocated, data.BitsStored, data.HighBit = 1, 1, 0
    packed = np.packbits(x, bitorder="little").tobytes()
    data.PixelData = packed + bytes(len(packed) % 2)
    data["PixelData"].VR = "OB"
    data.save_as(path, enforce_file_format=True)

path = sys.argv[1] + "/x.dcm"
for frames, rows, columns in (1, 3, 3), (1, 2, 4), (2, 3, 5):
    written(path, np.ones((frames, rows, columns), np.uint8))
    image = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path)).ravel()
    assert pydicom.dcmread(path).pixel_array.min() == 1
    whole = image.size // 8 * 8
    print(f"{frames} frames of {rows} x {columns} ones: the first {whole} are 255 {image[:whole].min() == 255}, all {image.min() == 255}")
P
)
echo "$seen"
[[ $seen == "1 frames of 3 x 3 ones: the first 8 are 255 True, all False
1 frames of 2 x 4 ones: the first 8 are 255 True, all True
2 frames of 3 x 5 ones: the first 24 are 255 True, all False" ]]
