/** A text file of another gateway. */
export interface ImportFile {
  /** Without its folder. Some exports name their table by it. */
  name: string
  text: string
}
