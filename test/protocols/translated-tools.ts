/** The section about tools that the client runs of docs/reference/translation.md. */
export const clientToolsText = `## Tools that the client runs

Some tools have a form that the vendor has fixed, and run where the client does. In other formats each is a function, with a note: the model gets a
description of it and the schema of its input.

| tool                                                      | function         | its calls and results                         |
| --------------------------------------------------------- | ---------------- | --------------------------------------------- |
| Messages: \`bash_...\`, \`text_editor_...\`, \`memory_...\`     | of the same name | as of any tool                                |
| Messages: \`computer_20251124\` and earlier                 | of the same name | as of any tool                                |
| Responses: \`shell\`, without \`environment\` or with \`local\` | \`shell\`          | \`shell_call\`, \`shell_call_output\`             |
| Responses: \`local_shell\`                                  | \`local_shell\`    | \`local_shell_call\`, \`local_shell_call_output\` |
| Responses: \`apply_patch\`                                  | \`apply_patch\`    | \`apply_patch_call\`, \`apply_patch_call_output\` |
| Responses: \`computer\`, \`computer_use_preview\`             | \`computer\`       | \`computer_call\`, \`computer_call_output\`       |

A toolset, such as \`computer_toolset_20260801\`, is no function: it is many tools. Nor is a \`shell\` in a container (\`container_auto\`,
\`container_reference\`), which the vendor itself runs. Like its other tools, both are refused where there is no other tool, and else left out with a
note. Chat Completions and Gemini have no tools of this kind.

For clients of Responses:

- A call of the function becomes the item of the tool, and that item of an earlier turn the call. \`tool_choice\` and \`allowed_tools\` name the tool
  by its type.
- In a stream the item is announced when its arguments are whole: before that, nobody knows what kind of an action it is. The commands of a \`shell\`
  come as \`response.shell_call_command.*\`. An answer that is cut off leaves an unfinished call out.
- Arguments that do not fit are an error, a 502 or \`response.failed\`: no command runs that the model did not give. Of a \`shell\`, one text is one
  command. A click without a button is one of the left button; a scroll without a distance in one direction does not move in it.
- The model sees of a \`shell\` its output, its \`stderr\`, and the exit code or that the time was over. Clients send all of an output
  with the \`max_output_length\` that the model gave: the gateway cuts the middle of a longer one out. A patch that failed is a result that failed.
- A screenshot is a picture in the result; on Chat, whose results hold only text, it follows in a message of the user. Vendors make large pictures
  smaller before the model sees them, so that its coordinates may be those of the smaller one: send small ones, such as 1280 x 800 pixels.
- Safety checks of computer calls are dropped with a note, and new ones do not come: only that vendor makes them.
- Another tool of the same name upstream, such as a function \`shell\` beside the tool, is refused: an answer could not tell them apart.`
