import { PassthroughSwitch } from '../proxy/passthrough/passthrough-switch.js';
import type { ServerConfig } from './config/server-config.js';
import type { ProgramSurroundings } from './program-surroundings.js';

/** Opens the panic switch of a process by itself, or of a head, and its gauges. Never rejects. */
export async function openPassthrough(
  { passthroughFile }: Pick<ServerConfig, 'passthroughFile'>,
  { clock, logger, metrics }: Pick<ProgramSurroundings, 'clock' | 'logger' | 'metrics'>,
): Promise<PassthroughSwitch> {
  const opened = await PassthroughSwitch.open({ file: passthroughFile, clock, logger });
  metrics.registry.collect(() => {
    const { on, sinceMs } = opened.state;
    metrics.passthrough.labels().set(on ? 1 : 0);
    metrics.passthroughSinceSeconds.reset();
    if (on) metrics.passthroughSinceSeconds.labels().set(sinceMs / 1000);
  });
  return opened;
}
