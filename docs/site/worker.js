// Lets the search work in pages that are opened as files, where browsers allow no workers: a frame does the worker's work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = `<script>
        self.postMessage = (data) => parent.postMessage(data, "*");
        self.importScripts = (...addresses) => Promise.all(addresses.map((address) => new Promise((done, failed) => {
          const script = document.createElement("script");
          Object.assign(script, { src: address, onload: done, onerror: failed });
          document.body.append(script);
        })));
      <\/script><body><script src="${address}"><\/script></body>`;
      frame.onload = () => {
        this.postMessage = (data) => frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
        waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      this.postMessage = (data) => waiting.push(data);
      window.addEventListener("message", (said) => {
        if (said.source !== frame.contentWindow) return;
        const copy = new MessageEvent("message", { data: said.data });
        this.dispatchEvent(copy);
        this.onmessage?.(copy);
      });
      document.body.append(frame);
    }
  };
}
