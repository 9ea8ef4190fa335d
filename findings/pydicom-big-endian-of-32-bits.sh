#!/usr/bin/env bash
# DICOM's big-endian transfer syntax swaps bytes within words of 16 bits (VR OW), so that of a sample of 32 bits, as doses of radiotherapy have, the
# lower word comes first. GDCM (python-gdcm 3.2.6), and SimpleITK 2.5.7 with it, write and read it so. pydicom 3.0.2 takes such samples for big-endian
# numbers of 32 bits: 1 is 65536, without a warning. In little-endian files, and of 16 bits, they agree.
# Seen with numpy 2.4.6, on CPython 3.11:
#     uint16, little-endian: SimpleITK [1, 2, 300, 40000], pydicom [1, 2, 300, 40000]
#     uint16, big-endian: SimpleITK [1, 2, 300, 40000], pydicom [1, 2, 300, 40000]
#     uint32, little-endian: SimpleITK [1, 2, 300, 40000], pydicom [1, 2, 300, 40000]
#     uint32, big-endian: SimpleITK [1, 2, 300, 40000], pydicom [65536, 131072, 19660800, 2621440000]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pydicom==3.0.2 python-gdcm==3.2.6 simpleitk==2.5.7 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import gdcm, numpy as np, pydicom, SimpleITK
from pydicom.dataset import Dataset, FileMetaDataset

def written(path, x):
    data = Dataset()
    data.file_meta = FileMetaDataset()
    data.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    data.file_meta.MediaStorageSOPClassUID = data.SOPClassUID = pydicom.uid.SecondaryCaptureImageStorage
    data.file_meta.MediaStorageSOPInstanceUID = data.SOPInstanceUID = data.StudyInstanceUID = data.SeriesInstanceUID = "1.2.3"
    data.Modality, data.SamplesPerPixel, data.PhotometricInterpretation, data.PixelRepresentation = "OT", 1, "MONOCHROME2", 0
    data.Rows, data.Columns = x.shape
    data.BitsAllocated = data.BitsStored = 8 * x.itemsize
    data.HighBit = data.BitsStored - 1
    data.PixelData = x.tobytes()
    data["PixelData"].VR = "OW"
    data.save_as(path, enforce_file_format=True)

little, big = sys.argv[1] + "/little.dcm", sys.argv[1] + "/big.dcm"
for dtype in "uint16", "uint32":
    written(little, np.array([[1, 2, 300, 40000]], dtype))
    reader = gdcm.ImageReader()
    reader.SetFileName(little)
    assert reader.Read()
    change = gdcm.ImageChangeTransferSyntax()
    change.SetTransferSyntax(gdcm.TransferSyntax(gdcm.TransferSyntax.ExplicitVRBigEndian))
    change.SetInput(reader.GetImage())
    assert change.Change()
    writer = gdcm.ImageWriter()
    writer.SetFile(reader.GetFile())
    writer.SetImage(change.GetOutput())
    writer.SetFileName(big)
    assert writer.Write()
    for name, path in ("little", little), ("big", big):
        image = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path)).ravel().tolist()
        print(f"{dtype}, {name}-endian: SimpleITK {image}, pydicom {pydicom.dcmread(path).pixel_array.ravel().tolist()}")
P
)
echo "$seen"
[[ $seen == "uint16, little-endian: SimpleITK [1, 2, 300, 40000], pydicom [1, 2, 300, 40000]
uint16, big-endian: SimpleITK [1, 2, 300, 40000], pydicom [1, 2, 300, 40000]
uint32, little-endian: SimpleITK [1, 2, 300, 40000], pydicom [1, 2, 300, 40000]
uint32, big-endian: SimpleITK [1, 2, 300, 40000], pydicom [65536, 131072, 19660800, 2621440000]" ]]
