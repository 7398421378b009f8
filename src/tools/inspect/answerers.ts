import { eachBounded } from '../../base/each-bounded.js';
import { Asker, type AskerOptions, NoAnswer } from './ask.js';

/** The servers that replied to connections to one address, each of which may lead to another server behind a load balancer. */
export interface Answerers {
  readonly straddles: number;
  /** Replies of anything else: a kube-apiserver itself. */
  readonly others: number;
  /** The first connection without a reply. */
  readonly failure: { readonly why: string; readonly isRefused: boolean } | undefined;
}

const AT_ONCE_MAX = 4;

/**
 * Asks over several new connections who answers at an address. Shows no credentials: health pages tell a Straddle to everybody. Never
 * rejects.
 */
export async function answerersAt(options: AskerOptions, connections: number): Promise<Answerers> {
  const { ca, insecureSkipTlsVerify } = options.credentials;
  const credentials = { ca, insecureSkipTlsVerify, clientCert: undefined, clientKey: undefined, token: undefined };
  const turns = Array.from({ length: connections }, () => ({ ...options, credentials }));
  const found = await eachBounded(turns, AT_ONCE_MAX, answererOf);
  return {
    straddles: found.filter((each) => each === 'straddle').length,
    others: found.filter((each) => each === 'other').length,
    failure: found.find((each) => typeof each === 'object'),
  };
}

async function answererOf(options: AskerOptions): Promise<'straddle' | 'other' | NonNullable<Answerers['failure']>> {
  const asker = new Asker(options);
  try {
    return (await asker.get('/readyz', '*/*')).isStraddle ? 'straddle' : 'other';
  } catch (error) {
    if (!(error instanceof NoAnswer)) return { why: String(error), isRefused: false };
    return { why: error.message, isRefused: error.code === 'ECONNREFUSED' };
  } finally {
    asker.close();
  }
}
