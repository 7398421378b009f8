import { BodyStream } from '../../http/body-stream.js';

export interface CuttableBody {
  readonly body: BodyStream;
  /** Breaks the body off in the middle, as a connection that is reset. */
  cut(): void;
}

/** Passes a body on until it is cut. `onOver` is called once, at its end of whatever kind. */
export function cuttable(inner: BodyStream, onOver: () => void): CuttableBody {
  let isPaused = false;
  let isOver = false;
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    onOver();
  };
  const body = new BodyStream({
    pause: () => {
      isPaused = true;
    },
    resume: () => {
      isPaused = false;
      inner.resume();
    },
    cancel: (error) => {
      over();
      inner.cancel(error);
    },
  });
  inner.attach({
    write: (chunk) => {
      body.push(chunk);
      return !isPaused;
    },
    end: (trailers) => {
      over();
      body.end(trailers);
    },
    fail: (error) => {
      over();
      body.fail(error);
    },
  });
  return {
    body,
    cut: () => {
      if (isOver) return;
      over();
      const error = new Error('the watch was cut by a fault of the test');
      body.fail(error);
      inner.cancel(error);
    },
  };
}
