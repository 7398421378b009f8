import { describe, expect, it } from 'vitest';
import { commandsOf, Guide } from './guide.js';

describe('the commands of the guide', () => {
  it('are found, with continued lines as one', () => {
    const text =
      '## Commands, in order\n\n1. One:\n\n       curl --a \\\n         https://b\n       crictl ps\n\n## Next\n\n       curl c\n';
    expect(commandsOf(text)).toEqual(['curl --a https://b']);
    expect(() => commandsOf('## Other\n')).toThrow('no section');
  });

  it('count as left until they were taken, and others cannot be taken', () => {
    const guide = new Guide();
    const command = 'straddle rbac | kubectl apply -f -';
    expect(guide.left()).toContain(command);
    expect(guide.command(command)).toBe(command);
    expect(guide.left()).not.toContain(command);
    expect(() => guide.command('straddle install --everywhere')).toThrow('has no command');
  });
});
