package io.varve.server.flash;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.varve.flash.tier.FlashTierStats;
import io.varve.server.testing.DemotingServer;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests scripts that transfer amounts between accounts, while all items are demoted all the time and other clients
 * fetch them: no amount is lost, and no script fails in its midst. Many threads.
 */
@Timeout(600)
class ScriptTransfersOverFlashTest {
    private static final int ACCOUNTS = 40;
    private static final long AMOUNT = 1000;
    private static final int CLIENTS = 2;
    private static final int STEPS = TestBudget.ofInt("varve.transfers.steps", 150, 5000);
    /** It names none of its keys, and has written when it first needs one. */
    private static final String TRANSFER = "redis.call('incr', 'transfers')"
            + " local from, to = 'account:' .. ARGV[1], 'account:' .. ARGV[2]"
            + " if tonumber(redis.call('get', from)) == 0 then return 'poor' end"
            + " redis.call('decr', from) redis.call('incr', to)"
            + " redis.call('set', 'short:' .. ARGV[1], 'x', 'px', 1) return redis.call('exists', 'short:' .. ARGV[2])";

    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    @TempDir
    Path directory;

    private DemotingServer varve;

    @BeforeEach
    void start() throws IOException {
        varve = new DemotingServer(servers, directory, "io-threads 2");
    }

    @AfterEach
    void stop() throws InterruptedException {
        varve.stop();
    }

    private static String[] accounts(String command) {
        return Stream.concat(Stream.of(command), IntStream.range(0, ACCOUNTS).mapToObj(i -> "account:" + i))
                .toArray(String[]::new);
    }

    private static long sum(RawClient client) throws IOException {
        return client.call(accounts("MGET")).elements().stream().mapToLong(reply -> Long.parseLong(reply.text())).sum();
    }

    private void transfer(SplittableRandom random) throws IOException {
        try (RawClient client = new RawClient(varve.port())) {
            for (int i = 0; i < STEPS; i++) {
                String from = Integer.toString(random.nextInt(ACCOUNTS));
                String to = Integer.toString(random.nextInt(ACCOUNTS));
                RawReply reply;
                if (i % 4 == 0) {
                    assertThat(client.call("MULTI").text()).isEqualTo("OK");
                    assertThat(client.call("INCR", "transactions").text()).isEqualTo("QUEUED");
                    assertThat(client.call("EVAL", TRANSFER, "0", from, to).text()).isEqualTo("QUEUED");
                    reply = client.call("EXEC").elements().get(1);
                } else {
                    reply = client.call("EVAL", TRANSFER, "0", from, to);
                }
                assertThat(reply.isError()).as("%s", reply).isFalse();
            }
        }
    }

    private void read(SplittableRandom random) throws IOException {
        try (RawClient client = new RawClient(varve.port())) {
            for (int i = 0; i < STEPS; i++) {
                if (random.nextInt(4) == 0) {
                    assertThat(sum(client)).isEqualTo(ACCOUNTS * AMOUNT);
                }
                String number = Integer.toString(random.nextInt(ACCOUNTS));
                assertThat(client.call("APPEND", "account:" + number, "").isError()).isFalse();
                assertThat(client.call("GET", "short:" + number).isError()).isFalse();
            }
        }
    }

    @Test
    void noAmountIsLost() throws Exception {
        SplittableRandom random = new SplittableRandom(TestBudget.seed("varve.test.seed"));
        ExecutorService threads = Executors.newCachedThreadPool();
        try (RawClient client = new RawClient(varve.port())) {
            for (int i = 0; i < ACCOUNTS; i++) {
                assertThat(client.call("SET", "account:" + i, Long.toString(AMOUNT)).text()).isEqualTo("OK");
            }
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                SplittableRandom own = random.split();
                running.add(threads.submit(() -> {
                    transfer(own);
                    return null;
                }));
                SplittableRandom ofReader = random.split();
                running.add(threads.submit(() -> {
                    read(ofReader);
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get();
            }
            assertThat(sum(client)).isEqualTo(ACCOUNTS * AMOUNT);
            assertThat(client.call("GET", "transfers").text()).isEqualTo(Integer.toString(CLIENTS * STEPS));
            assertThat(client.call("GET", "transactions").text())
                    .isEqualTo(Integer.toString(CLIENTS * ((STEPS + 3) / 4)));
            FlashTierStats stats = varve.stats();
            assertThat(stats.promotions()).as("promotions: %s", stats).isGreaterThan(STEPS);
            assertThat(stats.shed() + stats.invalidations()).isZero();
            assertThat(varve.cache().checkIntegrity()).isEmpty();
        } finally {
            threads.shutdownNow();
        }
    }
}
