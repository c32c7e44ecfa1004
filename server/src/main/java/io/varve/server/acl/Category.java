package io.varve.server.acl;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** The command categories, in the order in which Redis lists them. Immutable. */
public enum Category {
    KEYSPACE, READ, WRITE, SET, SORTEDSET, LIST, HASH, STRING, BITMAP, HYPERLOGLOG, GEO, STREAM, PUBSUB, ADMIN, FAST, SLOW, BLOCKING, DANGEROUS, CONNECTION, TRANSACTION, SCRIPTING;

    private static final List<String> NAMES = Arrays.stream(values()).map(Category::redisName).toList();

    /** The name in lower case, without the @. */
    public String redisName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The names of all categories. */
    public static List<String> names() {
        return NAMES;
    }

    /** Whether there is a category of this name, in any case. */
    public static boolean exists(String name) {
        return NAMES.contains(name.toLowerCase(Locale.ROOT));
    }
}
