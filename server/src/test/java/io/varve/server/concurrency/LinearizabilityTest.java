package io.varve.server.concurrency;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.memory.Cache;
import io.varve.server.VarveServer;
import io.varve.server.config.ServerConfig;
import io.varve.server.linearizability.HistoryChecker;
import io.varve.server.linearizability.HistoryShrinker;
import io.varve.server.linearizability.Operation;
import io.varve.server.linearizability.RandomRequests;
import io.varve.server.linearizability.RandomRequests.Mix;
import io.varve.server.linearizability.Request;
import io.varve.server.testing.PackedLimits;
import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients on several event loops send random requests for a few keys, in many short histories: for each there must be
 * an order in which a sequential store would have replied alike. Each client is confined to its task.
 *
 * <p>{@code -Dvarve.linearizability.histories=N} sets the number of histories of each mix, {@code
 * -Dvarve.linearizability.seed=N} repeats the requests; their interleaving depends on the machine. Nothing is evicted
 * and nothing expires.
 */
class LinearizabilityTest {
    @RegisterExtension
    static final ServerExtension servers = ServerExtension.withoutServer();

    private static final long HISTORIES = TestBudget.of("varve.linearizability.histories", 500, 20_000);
    private static final int CLIENTS = 4;
    private static final int REQUESTS = 12;
    /** So many requests at most are sent before their replies are read. */
    private static final int MAX_PIPELINED = 3;
    /** After so many histories collections become trees at another size. */
    private static final int SAME_LIMIT_HISTORIES = 100;

    @ParameterizedTest
    @EnumSource(Mix.class)
    void thereIsAnOrderForEveryHistory(Mix mix) throws Exception {
        long firstSeed = TestBudget.seed("varve.linearizability.seed");
        System.out.println("LinearizabilityTest " + mix + " seed " + firstSeed);
        ServerConfig config = ServerExtension.config("maxmemory 64mb", "io-threads " + CLIENTS, "shards 8");
        Cache cache = Cache.open(config.cacheConfig());
        SplittableRandom seeds = new SplittableRandom(firstSeed);
        long overlapping = 0;
        try (VarveServer server = servers.start(config, cache);
                RawClient cleaner = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(new RawClient(server.port()));
            }
            long seed = firstSeed;
            for (long number = 0; number < HISTORIES; number++) {
                if (number % SAME_LIMIT_HISTORIES == 0) {
                    PackedLimits.vary(server.port(), number / SAME_LIMIT_HISTORIES);
                }
                assertThat(cleaner.call("FLUSHALL").text()).isEqualTo("OK");
                List<Operation> history = record(clients, threads, new SplittableRandom(seed), mix);
                List<Operation> violation = HistoryChecker.findViolation(history);
                if (violation != null) {
                    Assertions.fail(mix + ", history " + number + ", seed " + seed + ": there is no order for\n"
                            + HistoryShrinker.print(HistoryShrinker.shrink(violation)) + "which is what is left of\n"
                            + HistoryShrinker.print(violation));
                }
                overlapping += overlaps(history) ? 1 : 0;
                seed = seeds.nextLong();
            }
            for (RawClient client : clients) {
                client.close();
            }
            assertThat(cache.checkIntegrity()).isEmpty();
        }
        System.out.println(
                "LinearizabilityTest " + mix + ": an order for each of " + HISTORIES + " histories, " + overlapping
                        + " of which overlap, seed " + firstSeed);
        assertThat(overlapping).as("histories whose operations overlap").isPositive();
    }

    /** One history: each client's operations in its order. */
    private static List<Operation> record(List<RawClient> clients, ExecutorService threads, SplittableRandom random,
            Mix mix) throws Exception {
        RandomRequests requests = new RandomRequests(random, mix);
        CyclicBarrier start = new CyclicBarrier(CLIENTS);
        List<Callable<List<Operation>>> tasks = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            int number = i;
            RawClient client = clients.get(i);
            List<Request> script = requests.script(REQUESTS);
            SplittableRandom pace = random.split();
            tasks.add(() -> {
                // A watch that the last history may have left.
                assertThat(client.call("UNWATCH").text()).isEqualTo("OK");
                start.await();
                return run(client, number, script, pace);
            });
        }
        List<Operation> history = new ArrayList<>();
        for (Future<List<Operation>> each : threads.invokeAll(tasks)) {
            history.addAll(each.get());
        }
        return history;
    }

    private static List<Operation> run(RawClient client, int number, List<Request> script, SplittableRandom pace)
            throws IOException {
        List<Operation> done = new ArrayList<>();
        while (done.size() < script.size()) {
            int until = Math.min(script.size(), done.size() + pace.nextInt(1, MAX_PIPELINED + 1));
            List<Request> sent = script.subList(done.size(), until);
            long invokedAt = System.nanoTime();
            for (Request request : sent) {
                send(client, request);
            }
            client.flush();
            for (Request request : sent) {
                String reply = receive(client, request);
                done.add(new Operation(number, request, reply, invokedAt, System.nanoTime()));
            }
        }
        return done;
    }

    private static void send(RawClient client, Request request) throws IOException {
        if (request.transaction()) {
            client.queue("MULTI");
        }
        for (List<String> call : request.calls()) {
            client.queue(call.toArray(String[]::new));
        }
        if (request.transaction()) {
            client.queue("EXEC");
        }
    }

    private static String receive(RawClient client, Request request) throws IOException {
        if (!request.transaction()) {
            return words(request.calls().getFirst(), client.read());
        }
        assertThat(client.read().text()).isEqualTo("OK");
        for (int i = 0; i < request.calls().size(); i++) {
            assertThat(client.read().text()).isEqualTo("QUEUED");
        }
        RawReply replies = client.read();
        if (replies.isNull()) {
            return "nil";
        }
        assertThat(replies.elements()).hasSameSizeAs(request.calls());
        List<String> words = new ArrayList<>();
        for (int i = 0; i < replies.elements().size(); i++) {
            words.add(words(request.calls().get(i), replies.elements().get(i)));
        }
        return "[" + String.join(", ", words) + "]";
    }

    /** A reply in the words of the specification. */
    private static String words(List<String> call, RawReply reply) {
        if (reply.isNull()) {
            return "nil";
        }
        if (reply.isError()) {
            return "-" + reply.text().split(" ", 2)[0];
        }
        if (!reply.isAggregate()) {
            return reply.kind() + reply.text();
        }
        var elements = reply.elements().stream().map(element -> words(call, element));
        boolean isOfAnyOrder = call.getFirst().equals("SMEMBERS") || call.getFirst().equals("HGETALL");
        return "[" + String.join(", ", (isOfAnyOrder ? elements.sorted() : elements).toList()) + "]";
    }

    private static boolean overlaps(List<Operation> history) {
        return history.stream().anyMatch(one -> history.stream().anyMatch(other -> one.client() != other.client()
                && one.invokedAt() < other.respondedAt() && other.invokedAt() < one.respondedAt()));
    }
}
