package io.varve.server.command;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/** Tells whether a collection is packed or a tree, which no command reports. Immutable: static methods only. */
public final class TreeSnapshot {
    private TreeSnapshot() {}

    /** @param name the key, in database 0; it is there */
    public static boolean isTree(CommandHarness server, String name) {
        CacheSession session = server.cache().newSession();
        Key key = new Key();
        Item item = new Item();
        byte[] bytes = name.getBytes(ISO_8859_1);
        try (Arena arena = Arena.ofConfined()) {
            session.now(server.now());
            session.bind(key, 0, arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes).address(), bytes.length);
            session.lock(key);
            try {
                assertThat(session.peek(key, item)).as(name).isTrue();
                return item.isTree();
            } finally {
                session.unlock(key);
            }
        }
    }
}
