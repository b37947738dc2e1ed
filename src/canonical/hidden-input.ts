/** The limit of reported members. Beyond it, they are not distinguished, so no setting can declare them. */
export const hiddenInputMax = 64
