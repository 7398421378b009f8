/** Bytes that are no message of Kubernetes, or an object that cannot be written as one. */
export class ProtobufError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ProtobufError';
  }
}
