#!/usr/bin/env bash
# ITK 5.4.7 makes of an array in column-major memory, which is what nibabel reads from NIfTI files, the image of its transpose, and SimpleITK 2.5.7
# that of the array: two equal arrays are two images. ITK's documentation says so, and that an array and its transpose are one image; three axes of
# which two are exchanged are copied to rows first, and right. A square or cubic image has no shape that would tell, and arithmetic on the array keeps
# its order.
# Seen with nibabel 5.4.2, numpy 2.4.6, on CPython 3.11:
#     rows: ITK [0, 1, 2, 3, 4, 5, 6, 7], SimpleITK [0, 1, 2, 3, 4, 5, 6, 7]
#     columns: ITK [0, 4, 2, 6, 1, 5, 3, 7], SimpleITK [0, 1, 2, 3, 4, 5, 6, 7]
#     of nibabel: ITK [0, 4, 2, 6, 1, 5, 3, 7], SimpleITK [0, 1, 2, 3, 4, 5, 6, 7]
#     exchanged: ITK [0, 1, 2, 3, 4, 5, 6, 7], SimpleITK [0, 1, 2, 3, 4, 5, 6, 7]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check itk-core==5.4.7 simpleitk==2.5.7 nibabel==5.4.2 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import itk, nibabel, numpy as np, SimpleITK

x = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
read = np.asarray(nibabel.Nifti1Image.from_bytes(nibabel.Nifti1Image(x, np.eye(4)).to_bytes()).dataobj)
exchanged = x.transpose(0, 2, 1).copy().transpose(0, 2, 1)
for name, array in {"rows": x, "columns": np.asfortranarray(x), "of nibabel": read, "exchanged": exchanged}.items():
    assert np.array_equal(array, x)
    back = itk.array_from_image(itk.image_from_array(array))
    same = SimpleITK.GetArrayFromImage(SimpleITK.GetImageFromArray(array))
    print(f"{name}: ITK {back.ravel().astype(int).tolist()}, SimpleITK {same.ravel().astype(int).tolist()}")
P
)
echo "$seen"
[[ $seen == "rows: ITK [0, 1, 2, 3, 4, 5, 6, 7], SimpleITK [0, 1, 2, 3, 4, 5, 6, 7]
columns: ITK [0, 4, 2, 6, 1, 5, 3, 7], SimpleITK [0, 1, 2, 3, 4, 5, 6, 7]
of nibabel: ITK [0, 4, 2, 6, 1, 5, 3, 7], SimpleITK [0, 1, 2, 3, 4, 5, 6, 7]
exchanged: ITK [0, 1, 2, 3, 4, 5, 6, 7], SimpleITK [0, 1, 2, 3, 4, 5, 6, 7]" ]]
