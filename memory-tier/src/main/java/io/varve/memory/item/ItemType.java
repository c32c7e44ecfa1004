package io.varve.memory.item;

/**
 * The Redis type of a value. Immutable. Its {@link #code} (3 bits) is stored in the item's header; 0 marks a dead item.
 */
public enum ItemType {
    STRING(1, "string"), HASH(2, "hash"), LIST(3, "list"), SET(4, "set"), SORTED_SET(5, "zset"), STREAM(6, "stream");

    /** Overwrites the type of an unreachable item, so that a walk of its segment recognizes it. */
    public static final int DEAD = 0;

    private static final ItemType[] BY_CODE = new ItemType[8];

    static {
        for (ItemType type : values()) {
            BY_CODE[type.code] = type;
        }
    }

    private final int code;
    private final String redisName;

    ItemType(int code, String redisName) {
        this.code = code;
        this.redisName = redisName;
    }

    public int code() {
        return code;
    }

    /** The name that TYPE returns. */
    public String redisName() {
        return redisName;
    }

    /**
     * @throws IllegalArgumentException if no type has this code
     */
    public static ItemType ofCode(int code) {
        ItemType type = BY_CODE[code & 7];
        if (type == null) {
            throw new IllegalArgumentException("No item type has code " + code);
        }
        return type;
    }
}
