package io.varve.memory.item;

/** The effect of a command or of the cache on a key, as reported to {@link ChangeListener}s. Immutable. */
public enum Change {
    /** A value was written, new or over an old one, with its expiry. */
    SET,
    /** A part of the value was written of whose changes clients are not notified: the consumer groups of a stream. */
    INTERNAL,
    /** The expiry time was set or changed; the value was not. */
    EXPIRY_SET,
    /** The expiry time was removed. */
    PERSISTED,
    /** A client deleted the key. */
    DELETED,
    /** The key expired. */
    EXPIRED,
    /** Some fields of a hash expired; others are left. */
    FIELDS_EXPIRED,
    /** The last fields of a hash expired, and the key was removed with them. */
    EMPTIED,
    /** The key was evicted under memory pressure. */
    EVICTED,
    /** The key was demoted to the secondary tier. Clients see no difference until that tier drops it. */
    DEMOTED,
    /** The secondary tier has dropped the key: because it was full, the item had expired, or was damaged. */
    DROPPED
}
