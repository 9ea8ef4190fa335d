"""Headless Chromium by its DevTools protocol over two pipes: Python's standard library is all it takes."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


def find_browser():
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Browser:
    """One page of a browser of its own. Whatever the page logs as an error, and whatever it throws, is in `faults`."""

    def __init__(self, executable):
        self.profile = tempfile.mkdtemp(prefix="faro-page-")
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()

        def place_pipes():  # the protocol's descriptors are 3 and 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [executable, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=place_pipes, close_fds=False)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.session, self.faults = 0, b"", None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.read, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") == "Runtime.exceptionThrown":
            self.faults.append(message["params"]["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        if message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] == "error":
            self.faults.append(message["params"]["entry"]["text"] + " " + message["params"]["entry"].get("url", ""))
        return message

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def value(self, expression):
        """What an expression of JavaScript gives."""
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(f"{expression}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def wait(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise AssertionError(f"waited {seconds} s in vain for {expression}")
            time.sleep(0.05)

    def open(self, url):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def key(self, name, shift=False):
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        about = {"key": name, "code": "Space" if name == " " else name, "windowsVirtualKeyCode": codes[name], "modifiers": 8 if shift else 0}
        text = {"Enter": "\r", " ": " "}.get(name)
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text):
        """In place of what the field has."""
        self.value("document.activeElement.select()")
        self.call("Input.insertText", text=text)

    def screenshot(self, path, whole=False):
        import base64
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
