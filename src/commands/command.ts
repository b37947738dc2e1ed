import { verify } from '../verify/verify.ts'
import type { CommandOutput } from './backup-output.ts'

/** The command `tollgate`. All but verify open a database and read the configuration. */
async function main(): Promise<number> {
  const [name, ...args] = process.argv.slice(2)
  switch (name) {
    case 'verify':
      return await verify(args, {
        env: process.env,
        stdout: process.stdout,
        stderr: process.stderr,
        signal: interrupted(),
      })
    case 'import': {
      const { importFrom } = await import('./import.ts')
      return await importFrom(args)
    }
    case 'backup': {
      const { backupFrom } = await import('./backup.ts')
      return await saying('Nothing is backed up', () => backupFrom(args, process.env, output()))
    }
    case 'restore': {
      const { restoreFrom } = await import('./restore.ts')
      return await saying('It is not restored', () => restoreFrom(args, process.env, output()))
    }
    case '--help':
    case '-h':
      console.log(commands)
      return 0
    default:
      console.error(
        name === undefined ? commands : `There is no command ${JSON.stringify(name)}.\n${commands}`,
      )
      return 2
  }
}

function output(): CommandOutput {
  return {
    print: (line) => void process.stdout.write(`${line}\n`),
    tell: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
  }
}

async function saying(what: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work()
  } catch (error) {
    console.error(`${what}: ${error instanceof Error ? error.message : String(error)}`)
    return 2
  }
}

const commands = `Commands:
  verify   call a gateway or a vendor as its clients do, and say what works; verify --help shows its options
  import   read the export or dump of new-api or LiteLLM, show a plan, and write it; import --help shows its options
  backup   back up the database and DATA_DIR while the gateway serves; backup --help shows its options
  restore  put a backup where nothing is, and verify it; restore --help shows its options
To start the gateway: npm start`

/** A second Ctrl-C changes nothing: what is known is printed already. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  process.on('SIGINT', () => controller.abort())
  process.on('SIGTERM', () => controller.abort())
  return controller.signal
}

// The reader of a pipe may leave early, as `head` does.
process.stdout.on('error', () => process.exit(0))

process.exitCode = await main()
