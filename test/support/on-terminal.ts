import { spawn } from 'node:child_process'

/**
 * A command line on a terminal of 80 columns, which `script` makes, and what is written there. When the text of `asked` stands
 * there, `answer` is typed.
 */
export async function onTerminal(
  command: string,
  env: Record<string, string>,
  { asked, answer }: { asked: string; answer: string | (() => Promise<string>) },
): Promise<{ code: number | null; text: string }> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('script', ['-qec', `stty cols 80 rows 50; ${command}`, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let text = ''
  let isAnswered = false
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    if (isAnswered || !text.includes(asked)) return
    isAnswered = true
    if (typeof answer === 'string') child.stdin.write(answer)
    else void answer().then((typed) => child.stdin.write(typed))
  })
  const code = await new Promise<number | null>((ended) => child.once('exit', ended))
  return { code, text: text.replaceAll('\r', '') }
}
