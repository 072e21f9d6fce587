// The stream of events. It closes while nobody looks, because a browser keeps few connections to one
// server, and goes on after the last event that was seen.
const listeners = new Map();
let last = document.body.dataset.event;
let stream;

export function on(kind, listener) {
  listeners.set(kind, [...(listeners.get(kind) ?? []), listener]);
}

export function follow() {
  if (!last || stream || document.hidden) return;
  stream = new EventSource("/api/events?last_event_id=" + last);
  for (const [kind, told] of listeners) {
    stream.addEventListener(kind, (e) => {
      last = e.lastEventId || last;
      for (const tell of told) tell(JSON.parse(e.data));
    });
  }
  stream.addEventListener("error", () => {
    if (stream?.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    stream = undefined;
    setTimeout(follow, 5000);
  });
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return follow();
  stream?.close();
  stream = undefined;
});
