import { verify } from '../verify/verify.ts'

/** The command `tollgate`: `tollgate verify ...` and `tollgate import ...`. Only import opens a database and reads the configuration. */
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

const commands = `Commands:
  verify   call a gateway or a vendor as its clients do, and say what works; verify --help shows its options
  import   read the export or dump of new-api or LiteLLM, show a plan, and write it; import --help shows its options
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
