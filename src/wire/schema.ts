import type * as A2A from '../protocol/types.ts';

type Scalar = 'string' | 'bool' | 'int32' | 'bytes' | 'Struct' | 'Value' | 'Timestamp';

/** The messages of `lf.a2a.v1` by their protocol names. `Empty` of Delete is no row: it has no field. */
export interface Messages {
  readonly SendMessageConfiguration: A2A.SendMessageConfiguration;
  readonly Task: A2A.Task;
  readonly TaskStatus: A2A.TaskStatus;
  readonly Part: A2A.Part;
  readonly Message: A2A.Message;
  readonly Artifact: A2A.Artifact;
  readonly TaskStatusUpdateEvent: A2A.TaskStatusUpdateEvent;
  readonly TaskArtifactUpdateEvent: A2A.TaskArtifactUpdateEvent;
  readonly AuthenticationInfo: A2A.AuthenticationInfo;
  readonly AgentInterface: A2A.AgentInterface;
  readonly AgentCard: A2A.AgentCard;
  readonly AgentProvider: A2A.AgentProvider;
  readonly AgentCapabilities: A2A.AgentCapabilities;
  readonly AgentExtension: A2A.AgentExtension;
  readonly AgentSkill: A2A.AgentSkill;
  readonly AgentCardSignature: A2A.AgentCardSignature;
  readonly TaskPushNotificationConfig: A2A.TaskPushNotificationConfig;
  readonly StringList: A2A.StringList;
  readonly SecurityRequirement: A2A.SecurityRequirement;
  readonly SecurityScheme: A2A.SecurityScheme;
  readonly APIKeySecurityScheme: A2A.APIKeySecurityScheme;
  readonly HTTPAuthSecurityScheme: A2A.HTTPAuthSecurityScheme;
  readonly OAuth2SecurityScheme: A2A.OAuth2SecurityScheme;
  readonly OpenIdConnectSecurityScheme: A2A.OpenIdConnectSecurityScheme;
  readonly MutualTlsSecurityScheme: A2A.MutualTlsSecurityScheme;
  readonly OAuthFlows: A2A.OAuthFlows;
  readonly AuthorizationCodeOAuthFlow: A2A.AuthorizationCodeOAuthFlow;
  readonly ClientCredentialsOAuthFlow: A2A.ClientCredentialsOAuthFlow;
  readonly ImplicitOAuthFlow: A2A.ImplicitOAuthFlow;
  readonly PasswordOAuthFlow: A2A.PasswordOAuthFlow;
  readonly DeviceCodeOAuthFlow: A2A.DeviceCodeOAuthFlow;
  readonly SendMessageRequest: A2A.SendMessageRequest;
  readonly GetTaskRequest: A2A.GetTaskRequest;
  readonly ListTasksRequest: A2A.ListTasksRequest;
  readonly ListTasksResponse: A2A.ListTasksResponse;
  readonly CancelTaskRequest: A2A.CancelTaskRequest;
  readonly GetTaskPushNotificationConfigRequest: A2A.GetTaskPushNotificationConfigRequest;
  readonly DeleteTaskPushNotificationConfigRequest: A2A.DeleteTaskPushNotificationConfigRequest;
  readonly SubscribeToTaskRequest: A2A.SubscribeToTaskRequest;
  readonly ListTaskPushNotificationConfigsRequest: A2A.ListTaskPushNotificationConfigsRequest;
  readonly GetExtendedAgentCardRequest: A2A.GetExtendedAgentCardRequest;
  readonly SendMessageResponse: A2A.SendMessageResponse;
  readonly StreamResponse: A2A.StreamResponse;
  readonly ListTaskPushNotificationConfigsResponse: A2A.ListTaskPushNotificationConfigsResponse;
}

/** Name of a message of `lf.a2a.v1`. */
export type MessageName = keyof Messages;

interface Enums {
  readonly TaskState: A2A.TaskState;
  readonly Role: A2A.Role;
}

/** Name of an enum of `lf.a2a.v1`. */
export type EnumName = keyof Enums;

/** Every value of each enum with its number; 0 is UNSPECIFIED, which stands for "not set" (STATE-01). */
export const enums: { readonly [E in EnumName]: Readonly<Record<Enums[E], number>> } = {
  TaskState: {
    TASK_STATE_SUBMITTED: 1,
    TASK_STATE_WORKING: 2,
    TASK_STATE_COMPLETED: 3,
    TASK_STATE_FAILED: 4,
    TASK_STATE_CANCELED: 5,
    TASK_STATE_INPUT_REQUIRED: 6,
    TASK_STATE_REJECTED: 7,
    TASK_STATE_AUTH_REQUIRED: 8,
  },
  Role: { ROLE_USER: 1, ROLE_AGENT: 2 },
};

/** The value that stands for "not set" in each enum. */
export const unspecified: Readonly<Record<EnumName, string>> = { TaskState: 'TASK_STATE_UNSPECIFIED', Role: 'ROLE_UNSPECIFIED' };

/** What a field holds. */
export type FieldType = Scalar | EnumName | MessageName;

/**
 * How a field is present: `optional` and members of a oneof tell absent from default (JSON-17), `singular` does not, `required` is annotated
 * so and always written (JSON-14).
 */
export type FieldLabel =
  | 'singular'
  | 'optional'
  | 'required'
  | 'repeated'
  | 'repeated required'
  | 'map'
  | 'map required'
  | `oneof:${string}`;

/** A row: the name in the proto file, its number, what it holds, how it is present. */
export type FieldRow = readonly [protoName: string, number: number, type: FieldType, label: FieldLabel];

// From here on the compiler compares the table with the types of protocol/types.ts: a field that one has and the other lacks, another type
// or another label does not build.

type KeysOf<T> = T extends unknown ? keyof T : never;
type RequiredKeysOf<T> = T extends unknown ? { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T] : never;
type ValueOf<T, K extends PropertyKey> = T extends unknown ? (K extends keyof T ? Exclude<T[K], undefined> : never) : never;
type IsUnion<T, All = T> = T extends unknown ? ([All] extends [T] ? false : true) : never;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type NamesOf<V, Table> = { [N in keyof Table]: Same<V, Table[N]> extends true ? N : never }[keyof Table];

type TypeOf<V> = [V] extends [boolean]
  ? 'bool'
  : [V] extends [number]
    ? 'int32'
    : Same<V, string> extends true
      ? 'string' | 'bytes' | 'Timestamp'
      : [V] extends [string]
        ? NamesOf<V, Enums>
        : Same<V, A2A.Json> extends true
          ? 'Value'
          : Same<V, A2A.Struct> extends true
            ? 'Struct'
            : NamesOf<V, Messages>;

type RowOf<V, P extends 'required' | 'present' | 'oneof'> =
  Same<V, A2A.Json> extends true
    ? readonly [string, number, 'Value', `oneof:${string}`]
    : [V] extends [readonly (infer Item)[]]
      ? readonly [string, number, TypeOf<Item>, P extends 'required' ? 'repeated required' : 'repeated']
      : Same<V, A2A.Struct> extends true
        ? readonly [string, number, 'Struct', 'singular']
        : [V] extends [Readonly<Record<infer Key, infer Item>>]
          ? string extends Key
            ? readonly [string, number, TypeOf<Item>, P extends 'required' ? 'map required' : 'map']
            : readonly [string, number, TypeOf<V>, LabelOf<P>]
          : readonly [string, number, TypeOf<V>, LabelOf<P>];

type LabelOf<P> = P extends 'required' ? 'required' : P extends 'oneof' ? `oneof:${string}` : 'singular' | 'optional';

// in a union, what only some members have is a oneof
type PresenceOf<T, K> =
  IsUnion<T> extends true
    ? K extends keyof T
      ? K extends RequiredKeysOf<T>
        ? 'required'
        : 'present'
      : 'oneof'
    : K extends RequiredKeysOf<T>
      ? 'required'
      : 'present';

/** The type of the table of fields. */
export type FieldTable = {
  readonly [M in MessageName]: {
    readonly [K in KeysOf<Messages[M]> & string]-?: RowOf<ValueOf<Messages[M], K>, PresenceOf<Messages[M], K>>;
  };
};

/** A field of a message: `Message.messageId`. */
export type FieldPath = { [M in MessageName]: `${M}.${KeysOf<Messages[M]> & string}` }[MessageName];
