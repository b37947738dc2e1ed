/** Counts, per owner, what is running or waiting in this process. */
export class RunningCounts {
  readonly #counts = new Map<string, number>()

  of(owner: string): number {
    return this.#counts.get(owner) ?? 0
  }

  /** Returns the owners with the highest counts. */
  most(owners: number): { owner: string; count: number }[] {
    return [...this.#counts]
      .map(([owner, count]) => ({ owner, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, owners)
  }

  /** Counts one more. Call the returned function once when it ends. */
  begin(owner: string): () => void {
    this.add(owner)
    return () => this.remove(owner)
  }

  add(owner: string): void {
    this.#counts.set(owner, this.of(owner) + 1)
  }

  remove(owner: string): void {
    const left = this.of(owner) - 1
    if (left > 0) this.#counts.set(owner, left)
    else this.#counts.delete(owner)
  }
}
