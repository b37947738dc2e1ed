import { command } from './command.ts'
import { CommandError, exitCodes, wrongUsage } from './exit-codes.ts'
import { json, value } from './options.ts'

export const verify = command({
  name: 'verify',
  group: 'Look',
  does: 'call a gateway or a vendor as its clients do, and report what works',
  details:
    'It needs no database. docs/reference/verify.md lists the checks. Exit code 1: something that every client needs is broken.',
  options: {
    base: value('URL', 'the base URL, such as http://127.0.0.1:8787/v1'),
    model: value('MODEL', 'the model to test'),
    keyEnv: value('NAME', 'the environment variable that contains the key; default: TOLLGATE_KEY'),
    only: value('FORMATS', 'chat, responses, messages, or several separated by commas; default: all'),
    imageModel: value('MODEL', 'also generate one image with this model'),
    timeout: value('SECONDS', 'the timeout of each call, 1 to 600; default: 60'),
    json,
  },
  arguments: {},
  async run({ options, env, terminal, signal }) {
    const [{ verify }, { UsageError }, { KeyRefused, Unreachable }] = await Promise.all([
      import('tollgate-verify/verify.ts'),
      import('tollgate-verify/options.ts'),
      import('tollgate-verify/caller.ts'),
    ])
    try {
      return await verify(options, { ...terminal.streams, env, signal })
    } catch (error) {
      if (error instanceof UsageError)
        throw wrongUsage(`${error.message}\nRun tollgate verify --help for all options.`, error)
      if (error instanceof KeyRefused)
        throw new CommandError(exitCodes.refused, error.message, { cause: error })
      if (error instanceof Unreachable)
        throw new CommandError(exitCodes.unreachable, error.message, { cause: error })
      throw error
    }
  },
})
