/**
 * The same members, to be set one by one while a value is being made. Where a request passes, objects are made so and not by spreads:
 * measured, a spread behind other members costs ten times as much as setting them.
 */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
