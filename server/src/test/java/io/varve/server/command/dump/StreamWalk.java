package io.varve.server.command.dump;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.varve.memory.report.CacheStats;
import io.varve.server.command.CommandHarness;
import io.varve.server.fuzz.StrictReplies;
import io.varve.server.testing.RawReply;

import static org.assertj.core.api.Assertions.assertThat;

/** Reads and changes the stream {@code s} by all commands, and compares what they reply. Confined to its thread. */
final class StreamWalk {
    private static final String MANY = "1000000";
    private static final int SOME = 8;
    private static final long MAX_TABLES_BYTES = 256 << 10;

    private final CommandHarness server;

    StreamWalk(CommandHarness server) {
        this.server = server;
    }

    /** The text of a bulk. */
    static String text(String reply) {
        return StrictReplies.one(reply, false).text();
    }

    private RawReply call(String... arguments) {
        return StrictReplies.one(server.run(arguments), false);
    }

    /** A command that does not fail. */
    private RawReply done(String... arguments) {
        RawReply reply = call(arguments);
        assertThat(reply.isError()).as(String.join(" ", arguments) + ": " + reply.text()).isFalse();
        return reply;
    }

    private static RawReply field(RawReply map, String name) {
        for (int i = 0; i < map.elements().size(); i += 2) {
            if (map.elements().get(i).text().equals(name)) {
                return map.elements().get(i + 1);
            }
        }
        throw new AssertionError("no " + name + " in " + map);
    }

    private static List<String> texts(RawReply array) {
        return array.elements().stream().map(RawReply::text).toList();
    }

    /** The IDs of entries. */
    private static List<String> ids(RawReply entries) {
        return entries.elements().stream().map(entry -> entry.elements().getFirst().text()).toList();
    }

    private static int compare(String id, String other) {
        String[] a = id.split("-");
        String[] b = other.split("-");
        int ms = Long.compareUnsigned(Long.parseUnsignedLong(a[0]), Long.parseUnsignedLong(b[0]));
        return ms != 0 ? ms : Long.compareUnsigned(Long.parseUnsignedLong(a[1]), Long.parseUnsignedLong(b[1]));
    }

    // --- checks

    /** Reads all of the stream. */
    void check() {
        if (!done("EXISTS", "s").text().equals("1")) {
            return;
        }
        checkEntries();
        RawReply full = done("XINFO", "STREAM", "s", "FULL", "COUNT", "0");
        RawReply groups = done("XINFO", "GROUPS", "s");
        assertThat(field(full, "groups").elements()).hasSameSizeAs(groups.elements());
        for (int i = 0; i < groups.elements().size(); i++) {
            checkGroup(groups.elements().get(i), field(full, "groups").elements().get(i));
        }
        done("MEMORY", "USAGE", "s");
        done("OBJECT", "ENCODING", "s");
    }

    private void checkEntries() {
        RawReply entries = done("XRANGE", "s", "-", "+");
        List<String> ids = ids(entries);
        assertThat(done("XLEN", "s").integer()).isEqualTo(ids.size());
        RawReply info = done("XINFO", "STREAM", "s");
        assertThat(field(info, "length").integer()).isEqualTo(ids.size());
        for (int i = 1; i < ids.size(); i++) {
            assertThat(compare(ids.get(i - 1), ids.get(i))).as(ids.toString()).isNegative();
        }
        List<RawReply> backwards = new ArrayList<>(done("XREVRANGE", "s", "+", "-").elements());
        Collections.reverse(backwards);
        assertThat(backwards).isEqualTo(entries.elements());
        for (int i = 0; i < Math.min(SOME, ids.size()); i++) {
            String id = ids.get(i);
            assertThat(done("XRANGE", "s", id, id).elements()).containsExactly(entries.elements().get(i));
        }
        if (ids.isEmpty()) {
            assertThat(field(info, "first-entry").isNull()).isTrue();
        } else {
            assertThat(field(info, "first-entry")).isEqualTo(entries.elements().getFirst());
            assertThat(field(info, "last-entry")).isEqualTo(entries.elements().getLast());
            assertThat(compare(ids.getLast(), field(info, "last-generated-id").text())).isNotPositive();
            done("XREAD", "STREAMS", "s", ids.getFirst());
        }
    }

    private void checkGroup(RawReply group, RawReply full) {
        String name = field(group, "name").text();
        long pending = field(group, "pending").integer();
        assertThat(field(full, "name").text()).isEqualTo(name);
        assertThat(field(full, "pel-count").integer()).isEqualTo(pending);
        assertThat(field(full, "pending").elements()).hasSize((int) pending);
        RawReply summary = done("XPENDING", "s", name);
        assertThat(summary.elements().getFirst().integer()).isEqualTo(pending);
        List<String> all = ids(done("XPENDING", "s", name, "-", "+", MANY));
        assertThat(all).hasSize((int) pending);
        RawReply consumers = done("XINFO", "CONSUMERS", "s", name);
        assertThat(field(group, "consumers").integer()).isEqualTo(consumers.elements().size());
        List<String> owned = new ArrayList<>();
        for (RawReply consumer : consumers.elements()) {
            List<String> own = ids(done("XPENDING", "s", name, "-", "+", MANY, field(consumer, "name").text()));
            assertThat(field(consumer, "pending").integer()).isEqualTo(own.size());
            owned.addAll(own);
        }
        assertThat(owned).containsExactlyInAnyOrderElementsOf(all);
    }

    /** A copy, and what is restored from a dump, are the same stream. */
    void checkCopies() {
        if (!done("EXISTS", "s").text().equals("1")) {
            return;
        }
        RawReply full = done("XINFO", "STREAM", "s", "FULL", "COUNT", "0");
        RawReply dumped = done("DUMP", "s");
        done("COPY", "s", "copy", "REPLACE");
        assertThat(done("DUMP", "copy")).isEqualTo(dumped);
        done("RESTORE", "copy", "0", dumped.text(), "REPLACE");
        assertThat(done("DUMP", "copy")).isEqualTo(dumped);
        assertThat(dumped(done("XINFO", "STREAM", "copy", "FULL", "COUNT", "0"))).isEqualTo(dumped(full));
        done("DEL", "copy");
    }

    /** The parts of a stream that a dump keeps: a dump loses the times when consumers were active. */
    private static String dumped(RawReply full) {
        return full.toString().replaceAll("\\$\"active-time\", :\"-?\\d+\"", "");
    }

    // --- changes

    /** Adds entries, removes some, and trims. Only XADD and XSETID may be refused: for the last ID. */
    void changeEntries() {
        call("XADD", "s", "*", "f", "v");
        call("XADD", "s", "*", "f", "w", "g", "x".repeat(300));
        List<String> ids = ids(done("XRANGE", "s", "-", "+"));
        if (!ids.isEmpty()) {
            assertThat(done("XDEL", "s", ids.getFirst(), ids.getLast(), ids.get(ids.size() / 2)).integer())
                    .isPositive();
            check();
        }
        ids = ids(done("XRANGE", "s", "-", "+"));
        if (ids.size() > 2) {
            assertThat(done("XTRIM", "s", "MINID", "=", ids.get(1)).integer()).isEqualTo(1);
        }
        long length = done("XLEN", "s").integer();
        assertThat(done("XTRIM", "s", "MAXLEN", "=", Long.toString(length / 2)).integer())
                .isEqualTo(length - length / 2);
        done("XTRIM", "s", "MAXLEN", "~", "0");
        call("XADD", "s", "MAXLEN", "1", "*", "a", "1", "b", "-5000000000");
        call("XSETID", "s", "18446744073709551615-1", "ENTRIESADDED", "100", "MAXDELETEDID", "1-1");
    }

    /** Reads by groups, claims, acknowledges, and removes consumers and groups. */
    void changeGroups() {
        RawReply groups = done("XINFO", "GROUPS", "s");
        for (RawReply group : groups.elements().subList(0, Math.min(SOME, groups.elements().size()))) {
            String name = field(group, "name").text();
            done("XREADGROUP", "GROUP", name, "reader", "COUNT", "2", "STREAMS", "s", ">");
            done("XREADGROUP", "GROUP", name, "reader", "STREAMS", "s", "0");
            List<String> pending = ids(done("XPENDING", "s", name, "-", "+", MANY));
            if (!pending.isEmpty()) {
                done("XCLAIM", "s", name, "other", "0", pending.getLast(), "RETRYCOUNT", "3");
                check();
                assertThat(done("XACK", "s", name, pending.getFirst(), pending.getLast()).integer()).isNotNegative();
            }
            done("XAUTOCLAIM", "s", name, "third", "0", "-", "COUNT", "3");
            done("XGROUP", "CREATECONSUMER", "s", name, "fourth");
            done("XGROUP", "SETID", "s", name, "0-1", "ENTRIESREAD", "1");
            done("XREADGROUP", "GROUP", name, "fourth", "NOACK", "STREAMS", "s", ">");
            check();
            List<String> consumers = texts(names(done("XINFO", "CONSUMERS", "s", name)));
            done("XGROUP", "DELCONSUMER", "s", name, consumers.get(consumers.size() / 2));
        }
        check();
        if (!groups.elements().isEmpty()) {
            done("XGROUP", "DESTROY", "s", field(groups.elements().getLast(), "name").text());
        }
        done("XGROUP", "CREATE", "s", "made", "$", "MKSTREAM");
        done("XREADGROUP", "GROUP", "made", "me", "STREAMS", "s", "0");
    }

    private static RawReply names(RawReply maps) {
        return new RawReply('*', "", maps.elements().stream().map(map -> field(map, "name")).toList());
    }

    // --- memory

    /** Deletes the stream; whatever it has taken is free then, but for tables that find the nodes of trees. */
    void assertNothingIsLeft() {
        done("DEL", "s");
        assertThat(server.cache().checkIntegrity()).isEmpty();
        CacheStats stats = server.cache().stats();
        assertThat(stats.items()).isZero();
        assertThat(stats.liveBytes()).isZero();
        assertThat(stats.usedBytes() - stats.deadBytes() - stats.indexBytes() - stats.expiryBytes())
                .isLessThan(MAX_TABLES_BYTES);
    }
}
