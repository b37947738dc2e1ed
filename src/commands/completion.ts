import { command } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { oneOf, required } from './options.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export const completion = command({
  name: 'completion',
  group: 'Set up',
  does: 'print the script with which a shell completes tollgate',
  details: `bash: eval "$(tollgate completion bash)" in ~/.bashrc
zsh:  tollgate completion zsh > "\${fpath[1]}/_tollgate"
fish: tollgate completion fish > ~/.config/fish/completions/tollgate.fish`,
  options: {},
  arguments: { shell: required('SHELL', shells.join(', '), { completes: shells, read: oneOf(shells) }) },
  async run({ arguments: { shell }, commands, terminal }) {
    const { scripts } = await import('./completion-scripts.ts')
    terminal.print(scripts[shell](commands))
    return exitCodes.done
  },
})
