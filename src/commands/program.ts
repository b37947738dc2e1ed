import {
  Argument as CommanderArgument,
  Command as CommanderCommand,
  type CommanderError,
  Option as CommanderOption,
} from 'commander'
import { type Argument, type Command, groups, type Option, optionName } from './command.ts'
import { CommandError, exitCodes, meanings, wrongUsage } from './exit-codes.ts'
import { commonOptions } from './options.ts'
import { paint, type Terminal } from './terminal.ts'

/** The values given on the command line. */
interface Asked {
  options: Texts
  arguments: Texts
  envFile: string | undefined
}

type Texts = Readonly<Record<string, readonly string[]>>

/** Builds the commander program. `run` is called with the chosen command. */
export function programOf(
  { version, commands }: { version: string; commands: readonly Command[] },
  terminal: Terminal,
  run: (command: Command, asked: Asked) => Promise<void>,
): CommanderCommand {
  const program = new CommanderCommand('tollgate')
    .description('A multi-tenant gateway in front of language and image models.')
    .version(version, '-V, --version', 'print the version')
    .addHelpText(
      'after',
      `\n${exitCodeText(terminal)}\n\nRun tollgate COMMAND --help for the options of a command.`,
    )
  settle(program, 'tollgate', terminal)
  for (const option of programOptions()) program.addOption(option)
  const parents = new Map<string, CommanderCommand>([['', program]])
  for (const group of groups) {
    for (const command of commands.filter((one) => one.group === group)) {
      const words = command.name.split(' ')
      const name = words.slice(0, -1).join(' ')
      const parent = parents.get(name) ?? parentOf(program, { name, group, commands, terminal })
      parents.set(name, parent)
      const made = parent.command(words.at(-1) ?? '').summary(command.does)
      settle(made, `tollgate ${command.name}`, terminal)
      made.helpGroup(`${group}:`)
      made.description([sentence(command.does), command.details].filter(Boolean).join('\n\n'))
      for (const argument of Object.values(command.arguments)) made.addArgument(argumentOf(argument))
      for (const [name, option] of Object.entries(command.options)) made.addOption(optionOf(name, option))
      made.action(async () => {
        const [envFile] = textsIn(program.opts().envFile)
        await run(command, { ...textsOf(command, made), envFile })
      })
    }
  }
  return program
}

/** The parent command, such as `ledger` of `ledger verify`. Run alone, it prints its help. */
function parentOf(
  program: CommanderCommand,
  {
    name,
    group,
    commands,
    terminal,
  }: { name: string; group: string; commands: readonly Command[]; terminal: Terminal },
): CommanderCommand {
  const below = commands
    .filter((one) => one.name.startsWith(`${name} `))
    .map((one) => one.name.slice(name.length + 1))
  const made = program.command(name).summary(below.join(', ')).helpGroup(`${group}:`)
  settle(made, `tollgate ${name}`, terminal)
  return made
}

const columnsMost = 100

function programOptions(): CommanderOption[] {
  return Object.entries(commonOptions).map(([name, option]) => optionOf(name, option))
}

/** The commands that can be run: `ledger verify`, not `ledger`. */
function leavesOf(program: CommanderCommand): CommanderCommand[] {
  return program.commands.flatMap((one) => (one.commands.length === 0 ? [one] : one.commands))
}

/** The path of a command without the program's name, such as `ledger verify`. */
function pathOf(command: CommanderCommand): string {
  const parent = command.parent?.name()
  return parent === undefined || parent === 'tollgate' ? command.name() : `${parent} ${command.name()}`
}

function settle(command: CommanderCommand, path: string, terminal: Terminal): void {
  const { look, streams } = terminal
  const { stdout, stderr } = streams
  command
    .exitOverride((error) => {
      throw failureOf(error, path)
    })
    .helpCommand(false)
    .helpOption('-h, --help', 'print this help')
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHasColors: () => look.hasColour,
      getErrHasColors: () => look.hasColour && stderr.isTTY === true,
      // The thrown Error already contains the message.
      outputError: () => {},
    })
    .configureHelp({
      helpWidth: Math.min(look.columns ?? columnsMost, columnsMost),
      showGlobalOptions: true,
      visibleGlobalOptions: () => (path === 'tollgate' ? [] : programOptions()),
      // The list of all commands includes subcommands, such as those of `ledger`.
      ...(path === 'tollgate' && { visibleCommands: leavesOf, subcommandTerm: pathOf }),
      ...(path !== 'tollgate' && { subcommandTerm: (below: CommanderCommand) => below.name() }),
      styleTitle: (text) => paint(text, 'bold', look),
    })
}

/** Either the help was requested, or the command line is invalid. */
function failureOf(error: CommanderError, path: string): Error {
  if (error.exitCode === 0) return new HelpShown(exitCodes.done)
  if (error.code === 'commander.help') return new HelpShown(exitCodes.usage)
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  return wrongUsage(`${message}. Run ${path} --help for usage.`)
}

/** Thrown after the help is shown, when there is nothing left to do. */
export class HelpShown extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super('the help was shown')
    this.exitCode = exitCode
  }
}

function optionOf(name: string, { placeholder, does, repeats }: Option<unknown>): CommanderOption {
  const flags = placeholder === undefined ? optionName(name) : `${optionName(name)} <${placeholder}>`
  const option = new CommanderOption(flags, repeats ? `${does}; can be given several times` : does)
  return placeholder === undefined ? option : option.argParser(gather)
}

function gather(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

function argumentOf({ placeholder, does, required, repeats }: Argument<unknown>): CommanderArgument {
  const name = `${placeholder}${repeats ? '...' : ''}`
  return new CommanderArgument(required ? `<${name}>` : `[${name}]`, does)
}

function textsOf(command: Command, parsed: CommanderCommand): { options: Texts; arguments: Texts } {
  const given: Record<string, unknown> = parsed.opts()
  const options = Object.keys(command.options).map((name) => [name, textsIn(given[name])])
  const processed: readonly unknown[] = parsed.processedArgs
  const named = Object.keys(command.arguments).map((name, at) => [name, textsIn(processed[at])])
  return { options: Object.fromEntries(options), arguments: Object.fromEntries(named) }
}

/** A switch has one empty value. */
function textsIn(given: unknown): readonly string[] {
  if (given === undefined || given === false) return []
  if (given === true) return ['']
  return [given].flat().map(String)
}

/** Parses the values. Throws a CommandError that names the option or argument. */
export function valuesOf(
  readers: Readonly<Record<string, Option<unknown> | Argument<unknown>>>,
  texts: Texts,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(readers).map(([name, reader]) => {
      try {
        return [name, reader.read(texts[name] ?? [])]
      } catch (error) {
        if (error instanceof CommandError) throw error
        const called = 'required' in reader ? reader.placeholder : optionName(name)
        throw wrongUsage(`${called} ${error instanceof Error ? error.message : String(error)}`, error)
      }
    }),
  )
}

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`
}

function exitCodeText({ look }: Terminal): string {
  const lines = Object.values(exitCodes).map((code) => `  ${String(code).padEnd(4)}${meanings[code]}`)
  return [paint('Exit codes:', 'bold', look), ...lines, '  130 and 143: ended by a signal'].join('\n')
}
