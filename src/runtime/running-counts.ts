/** How many of something run in this process, or wait there, for each owner. */
export class RunningCounts {
  readonly #counts = new Map<string, number>()

  of(owner: string): number {
    return this.#counts.get(owner) ?? 0
  }

  /** The owners of most, with their counts. */
  most(owners: number): { owner: string; count: number }[] {
    return [...this.#counts]
      .map(([owner, count]) => ({ owner, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, owners)
  }

  /** One more runs. Call the function that it returns once, at its end. */
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
