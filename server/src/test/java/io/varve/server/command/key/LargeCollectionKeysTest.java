package io.varve.server.command.key;

import io.varve.memory.CacheSession;
import io.varve.memory.collection.SortedSetTree;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import io.varve.server.command.CommandHarness;
import io.varve.server.command.value.Encodings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/** Generic key commands on a collection that is a tree. Confined to the test's thread. */
class LargeCollectionKeysTest {
    private static final int MEMBERS = 2000;

    private final CommandHarness server = new CommandHarness();
    private final Regions regions = new Regions();
    private final long buffer = regions.allocate(Regions.MIN_BYTES);
    private final CacheSession session = server.cache().newSession();
    private final Key key = new Key();
    private final Item item = new Item();
    private final SortedSetTree tree = new SortedSetTree();

    @AfterEach
    void close() {
        assertThat(server.cache().checkIntegrity()).isEmpty();
        server.close();
        regions.free(buffer, Regions.MIN_BYTES);
    }

    private int write(String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        Memory.copy(bytes, 0, buffer, bytes.length);
        return bytes.length;
    }

    private void lock(int database, String name) {
        session.now(server.now());
        session.bind(key, database, buffer, write(name));
        session.lock(key);
    }

    private void make(String name) {
        lock(0, name);
        try {
            long member = buffer + 100;
            session.makeTree(key, item, tree, Item.NEVER, () -> {
                for (int i = 0; i < MEMBERS; i++) {
                    Memory.putLong(member, i);
                    assertThat(tree.put(member, 8, i)).isTrue();
                }
                tree.flags(Encodings.SORTED_SET_SKIPLIST);
            });
            session.changed(key, Change.SET);
        } finally {
            session.unlock(key);
        }
    }

    private void assertComplete(int database, String name) {
        lock(database, name);
        try {
            assertThat(session.peek(key, item)).isTrue();
            session.open(key, item, tree);
            assertThat(tree.size()).isEqualTo(MEMBERS);
            long expected = 0;
            for (boolean more = tree.first(); more; more = tree.next()) {
                assertThat(Memory.getLong(tree.address())).isEqualTo(expected++);
            }
        } finally {
            session.unlock(key);
        }
    }

    /** Some of the names are in the shard of the first, others are not. */
    @ParameterizedTest
    @ValueSource(strings = {"b", "c", "d", "e", "f", "g"})
    void largeCollectionsAreRenamedAndCopied(String to) {
        make("a");
        assertThat(server.run("EXPIRE a 100")).isEqualTo(":1\r\n");
        server.run("SET", to, "in the way");
        assertThat(server.run("RENAMENX", "a", to)).isEqualTo(":0\r\n");
        assertThat(server.run("RENAME", "a", to)).isEqualTo("+OK\r\n");
        assertThat(server.run("EXISTS a")).isEqualTo(":0\r\n");
        assertThat(server.run("TTL", to)).isEqualTo(":100\r\n");
        assertComplete(0, to);
        assertThat(server.run("COPY", to, "a")).isEqualTo(":1\r\n");
        assertThat(server.run("COPY", to, "a")).isEqualTo(":0\r\n");
        assertThat(server.run("COPY", to, "a", "REPLACE")).isEqualTo(":1\r\n");
        assertComplete(0, to);
        assertComplete(0, "a");
        assertThat(server.run("TTL a")).isEqualTo(":100\r\n");
        assertThat(server.run("MOVE a 3")).isEqualTo(":1\r\n");
        assertComplete(3, "a");
        assertThat(server.run("COPY", to, to, "DB", "2")).isEqualTo(":1\r\n");
        assertComplete(2, to);
        assertThat(server.run("RENAME", to, to)).isEqualTo("+OK\r\n");
        assertComplete(0, to);
        assertThat(server.run("DBSIZE")).isEqualTo(":1\r\n");
    }

    @Test
    void isAnsweredAboutAsAnyKey() {
        make("a");
        assertThat(server.run("TYPE a")).isEqualTo("+zset\r\n");
        assertThat(server.run("OBJECT ENCODING a")).isEqualTo("$8\r\nskiplist\r\n");
        assertThat(server.run("SCAN 0 TYPE zset COUNT 1000")).isEqualTo("*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n");
        assertThat(server.run("KEYS *")).isEqualTo("*1\r\n$1\r\na\r\n");
        assertThat(server.run("RANDOMKEY")).isEqualTo("$1\r\na\r\n");
        assertThat(server.run("GET a")).startsWith("-WRONGTYPE");
        assertThat(server.run("APPEND a x")).startsWith("-WRONGTYPE");
        assertThat(server.run("HGET a f")).startsWith("-WRONGTYPE");
        String usage = server.run("MEMORY USAGE a").trim();
        assertThat(Integer.parseInt(usage.substring(1))).isBetween(MEMBERS * 25, MEMBERS * 60);
        assertThat(server.run("SWAPDB 0 1")).isEqualTo("+OK\r\n");
        assertComplete(1, "a");
        assertThat(server.run("SWAPDB 0 1")).isEqualTo("+OK\r\n");
        assertThat(server.run("SET a x")).isEqualTo("+OK\r\n");
        assertThat(server.run("GET a")).isEqualTo("$1\r\nx\r\n");
        make("a");
        assertThat(server.run("PEXPIRE a 10")).isEqualTo(":1\r\n");
        server.sleep(11);
        assertThat(server.run("EXISTS a")).isEqualTo(":0\r\n");
        make("a");
        assertThat(server.run("DEL a")).isEqualTo(":1\r\n");
        make("a");
        assertThat(server.run("FLUSHALL")).isEqualTo("+OK\r\n");
        while (server.cache().stats().liveBytes() > 0) {
            server.cache().maintain();
        }
    }
}
