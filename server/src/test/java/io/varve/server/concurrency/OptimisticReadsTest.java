package io.varve.server.concurrency;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

import io.varve.server.Tiers;
import io.varve.server.command.CommandHarness;
import io.varve.server.config.ServerConfig;
import io.varve.server.testing.BlockedClients;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.ServerExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests which commands read without a lock, and that a key that changes in the meantime is read under its lock.
 * Confined to the test's thread.
 */
@Timeout(60)
class OptimisticReadsTest extends BlockedClients {
    private static final List<String> FILL = List.of("SET s x", "RPUSH l a b", "HSET h f 1", "SADD t m", "SADD i 1",
            "ZADD z 1 m");

    private ObservedCache observed;
    /** A client of the other event loop, not of {@link #admin}'s. */
    private RawClient other;

    @BeforeEach
    void startObserved() throws IOException {
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "shards 8", "io-threads 2");
        Tiers tiers = Tiers.open(config);
        observed = new ObservedCache(tiers.cache());
        restart(servers.start(config, new Tiers(observed.cache(), tiers.flash())));
        other = connect();
    }

    @Test
    void everyCommandWithTheTrait_readsSmallItemsWithoutALock() throws IOException {
        fill();
        for (String read : ObservedCache.READS) {
            readsWithoutALock(read);
            readsWithoutALock(read.replaceFirst(" \\w+", " none"));
        }
    }

    /** Repeats the read if maintenance has the lock at that moment. */
    private void readsWithoutALock(String read) {
        int before = observed.confirmed();
        await(read).atMost(20, TimeUnit.SECONDS).until(() -> {
            assertThat(execute(admin, read)).as(read).doesNotStartWith("-");
            return observed.confirmed() - before == 1;
        });
    }

    /** The copy is of the time before the change, so the reply must come from a read under the lock. */
    @ParameterizedTest
    @ValueSource(strings = {"DEL KEY", "PEXPIREAT KEY 1", "RENAME KEY away", "FLUSHALL", "SWAPDB 0 1", "SET KEY"})
    void aKeyThatChangesMeanwhile_isReadUnderItsLock(String change) throws IOException {
        for (String read : ObservedCache.READS) {
            fill();
            String before = execute(admin, read);
            executeDuringTheNextRead((change.equals("SET KEY") ? overwriting(read) : change)
                    .replace("KEY", read.split(" ")[1]));
            String during = execute(admin, read);
            assertThat(during).as("%s, before: %s", read, before).isNotEqualTo(before).isEqualTo(execute(admin, read));
        }
    }

    /** A command that changes what the read replies, and keeps the item small. */
    private static String overwriting(String read) {
        return switch (read.substring(0, read.indexOf(' '))) {
            case "GET", "STRLEN", "BITCOUNT" -> "SETRANGE KEY 0 wider";
            case "EXISTS", "TYPE", "TTL", "PTTL" -> "RENAME KEY away";
            case "EXPIRETIME", "PEXPIRETIME" -> "EXPIREAT KEY 9000000000";
            case "GETBIT", "BITPOS" -> "SET KEY 0";
            case "LLEN", "LRANGE", "LINDEX" -> "LPUSH KEY x";
            case "HGET", "HMGET", "HSTRLEN", "HGETALL", "HVALS" -> "HSET KEY f other";
            case "HLEN", "HKEYS" -> "HSET KEY g 2";
            case "HEXISTS" -> "HDEL KEY f";
            case "SISMEMBER" -> "SREM KEY 1";
            case "SMISMEMBER", "SCARD", "SMEMBERS" -> "SADD KEY n";
            case "ZCARD", "ZCOUNT", "ZLEXCOUNT", "ZMSCORE" -> "ZADD KEY 0 n";
            case "ZSCORE" -> "ZADD KEY 2 m";
            case "ZRANK" -> "ZADD KEY 0 a";
            case "ZREVRANK" -> "ZADD KEY 5 z";
            default -> throw new AssertionError(read);
        };
    }

    private void fill() throws IOException {
        admin.command("FLUSHALL");
        for (String fill : FILL) {
            admin.command(fill.split(" "));
        }
    }

    @Test
    void theListOfReads_isComplete() {
        Set<String> named = new TreeSet<>();
        ObservedCache.READS
                .forEach(read -> named.add(read.substring(0, read.indexOf(' ')).toLowerCase(java.util.Locale.ROOT)));
        Set<String> withTrait = new TreeSet<>();
        try (CommandHarness harness = new CommandHarness()) {
            harness.table().all().stream().filter(spec -> spec.readsOptimistically())
                    .forEach(spec -> withTrait.add(spec.name()));
        }
        assertThat(named).isEqualTo(withTrait);
    }

    @Test
    void readsUnderAPolicyThatCounts_andOfWatchedMisses_takeTheLock() throws IOException {
        admin.command("SET", "s", "v");
        admin.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
        expect(admin, "GET s", "$1 v");
        assertThat(observed.confirmed()).isZero();
        admin.command("CONFIG", "SET", "maxmemory-policy", "noeviction", "notify-keyspace-events", "Km");
        expect(admin, "GET none", "$-1");
        assertThat(observed.confirmed()).isZero();
        readsWithoutALock("GET s");
    }

    /** The copy is of the time before the push, and its client is served while the reader decides about the copy. */
    @Test
    void anElementThatServesABlockedClient_meanwhile_isNotSeen() throws IOException {
        RawClient blocked = waiting("BLPOP k 0");
        executeDuringTheNextRead("RPUSH k x");
        expect(admin, "LLEN k", ":0");
        gets(blocked, "*2 $1 k $1 x");
    }

    /** The copy of the target is of the time before the push. */
    @Test
    void anElementMovedForABlockedClient_meanwhile_isSeen() throws IOException {
        admin.command("RPUSH", "b", "w");
        RawClient blocked = waiting("BLMOVE a b LEFT LEFT 0");
        executeDuringTheNextRead("RPUSH a x");
        expect(admin, "LRANGE b 0 -1", "*2 $1 x $1 w");
        gets(blocked, "$1 x");
    }

    private void executeDuringTheNextRead(String command) {
        observed.interruptNextRead(() -> {
            try {
                assertThat(execute(other, command)).as(command).doesNotStartWith("-");
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        });
    }
}
