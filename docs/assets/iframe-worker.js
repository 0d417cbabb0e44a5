// Search works in a page that is opened from a disk, too: browsers refuse workers there, so one is
// played by a hidden frame of the same page. Elsewhere nothing is changed.
if (location.protocol === "file:") {
  const prelude = `<script>
    postMessage = data => frameElement.dispatchEvent(new CustomEvent("answer", { detail: data }));
    importScripts = (...urls) => urls.reduce((before, url) => before.then(() =>
      new Promise((resolve, reject) => {
        const script = document.createElement("script");
        Object.assign(script, { src: url, onload: resolve, onerror: reject });
        document.head.appendChild(script);
      })), Promise.resolve());
  </script>`;

  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      frame.addEventListener("answer", ({ detail }) =>
        this.dispatchEvent(new MessageEvent("message", { data: detail })));
      this.ready = new Promise(resolve => frame.contentWindow.started = () => resolve(frame));
      const page = frame.contentDocument;
      page.open();
      page.write(`${prelude}<script src="${url}" onload="started()"></script>`);
      page.close();
    }

    postMessage(data) {
      this.ready.then(frame =>
        frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
