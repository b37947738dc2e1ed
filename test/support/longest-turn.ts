/**
 * Measures the processor time that this thread uses between two ticks of a timer: its longest turn of the event loop, within
 * `tickMs`. The time for which other processes had the processor does not count.
 */
export function measureLongestTurn(): { stop(): number } {
  let last = cpuMs()
  let longest = 0
  const note = () => {
    const now = cpuMs()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(note, tickMs)
  return {
    stop() {
      clearInterval(timer)
      note()
      return longest
    },
  }
}

const tickMs = 2

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
