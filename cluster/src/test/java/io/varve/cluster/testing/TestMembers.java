package io.varve.cluster.testing;

import java.util.Locale;

import io.varve.cluster.map.Member;

/** Members of test clusters. Stateless. */
public final class TestMembers {
    private static final int FIRST_PORT = 7000;

    private TestMembers() {}

    public static String id(int number) {
        return String.format(Locale.ROOT, "%040x", number);
    }

    public static Member primary(int number) {
        return new Member(id(number), "127.0.0.1", FIRST_PORT + number, 1, null);
    }

    public static Member replica(int number, int primary) {
        return primary(number).withPrimary(id(primary));
    }
}
