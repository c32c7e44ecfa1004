package io.varve.server.concurrency;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.server.testing.RawClient;
import io.varve.server.testing.RawReply;
import io.varve.server.testing.ServerExtension;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Changes rules while clients run: no client does anything that no rule ever permitted. Many threads, each with its own
 * client.
 */
class AclConcurrencyTest {
    private static final int CLIENTS = 4;
    private static final int CHANGES = TestBudget.ofInt("varve.acl.changes", 400, 12_000);
    private static final String NO_KEY = "NOPERM No permissions to access a key";

    @RegisterExtension
    final ServerExtension server = ServerExtension.with("io-threads 3", "maxmemory 64mb");
    private final AtomicBoolean done = new AtomicBoolean();

    /**
     * The user may access a or b, in turn, and never both: each command and each transaction sees the one or the other.
     */
    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void eachCommandSeesWholeRules() throws Exception {
        try (RawClient admin = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            assertThat(admin.call("ACL", "SETUSER", "u", "on", "nopass", "+@all", "~a").text()).isEqualTo("OK");
            List<Future<Long>> running = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                running.add(threads.submit(reader(server.port())));
            }
            for (int i = 0; i < CHANGES; i++) {
                String key = i % 2 == 0 ? "~b" : "~a";
                assertThat(admin.call("ACL", "SETUSER", "u", "resetkeys", key).text()).isEqualTo("OK");
                // A request from here on is subject to these rules: the change is complete before it is acknowledged.
                String other = i % 2 == 0 ? "a" : "b";
                assertThat(admin.call("ACL", "DRYRUN", "u", "GET", other).text()).contains("no permissions");
            }
            done.set(true);
            for (Future<Long> one : running) {
                assertThat(one.get()).isPositive();
            }
        }
    }

    private Callable<Long> reader(int port) {
        return () -> {
            long answers = 0;
            try (RawClient client = new RawClient(port)) {
                assertThat(client.call("AUTH", "u", "x").text()).isEqualTo("OK");
                while (!done.get()) {
                    // Both keys are never allowed.
                    assertThat(client.call("MGET", "a", "b").text()).isEqualTo(NO_KEY);
                    assertThat(client.call("GET", "a").text()).isIn("-1 (null)", NO_KEY);
                    assertThat(client.call("MSET", "b", "1", "a", "1").text()).isEqualTo(NO_KEY);
                    answers++;
                }
            }
            return answers;
        };
    }

    /**
     * A client that may subscribe only at times never receives a message from a time at which it may not, whenever it
     * subscribed.
     */
    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void noMessageReachesAClientWithoutRights() throws Exception {
        try (RawClient admin = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            assertThat(admin.call("ACL", "SETUSER", "u", "on", "nopass", "+@all", "resetchannels").text())
                    .isEqualTo("OK");
            List<Future<Long>> running = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                running.add(threads.submit(listener(server.port(), i % 2 == 0)));
            }
            long heard = 0;
            for (int i = 0; i < CHANGES; i++) {
                assertThat(admin.call("ACL", "SETUSER", "u", "&secret", "&s*").text()).isEqualTo("OK");
                for (int reported = 0; reported < 5; reported++) {
                    heard += Long.parseLong(admin.call("PUBLISH", "secret", "allowed").text());
                }
                admin.queue("ACL", "SETUSER", "u", "resetchannels");
                admin.queue("PUBLISH", "secret", "forbidden");
                admin.flush();
                assertThat(admin.read().text()).isEqualTo("OK");
                assertThat(admin.read().isError()).isFalse();
            }
            // A new client is refused from here on.
            done.set(true);
            long subscribed = 0;
            for (Future<Long> one : running) {
                subscribed += one.get();
            }
            System.out.println(
                    "AclConcurrencyTest: subscribed " + subscribed + " times, received " + heard + " messages");
            assertThat(subscribed).isPositive();
            // A disconnected subscriber is removed a moment later.
            await().until(() -> (admin.info("pubsub_channels") + admin.info("pubsub_patterns")).equals("00"));
        }
    }

    private Callable<Long> listener(int port, boolean byPattern) {
        return () -> {
            long subscribed = 0;
            while (!done.get()) {
                try (RawClient client = new RawClient(port)) {
                    assertThat(client.call("AUTH", "u", "").text()).isEqualTo("OK");
                    RawReply reply = client.call(byPattern ? "PSUBSCRIBE" : "SUBSCRIBE", byPattern ? "s*" : "secret");
                    while (reply.isError() && !done.get()) {
                        assertThat(reply.text()).startsWith("NOPERM");
                        reply = client.call(byPattern ? "PSUBSCRIBE" : "SUBSCRIBE", byPattern ? "s*" : "secret");
                    }
                    while (!reply.isError()) {
                        subscribed += reply.elements().getFirst().text().endsWith("subscribe") ? 1 : 0;
                        assertThat(reply.elements().getLast().text()).isIn("1", "allowed");
                        reply = client.read();
                    }
                } catch (EOFException | SocketException disconnected) {
                    assertThat(disconnected).hasNoCause();
                }
            }
            return subscribed;
        };
    }

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void usersAreCreatedAndDeletedWhileConnected() throws Exception {
        try (RawClient admin = new RawClient(server.port());
                ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
            List<Future<Long>> running = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                running.add(threads.submit(comer(server.port())));
            }
            for (int i = 0; i < CHANGES; i++) {
                assertThat(admin.call("ACL", "SETUSER", "u", "on", ">pw", "+set", "~allowed").text()).isEqualTo("OK");
                assertThat(admin.call("ACL", "DELUSER", "u").text()).isEqualTo("1");
            }
            done.set(true);
            for (Future<Long> one : running) {
                assertThat(one.get()).isPositive();
            }
            assertThat(admin.call("EXISTS", "forbidden").text()).isEqualTo("0");
            assertThat(admin.call("ACL", "USERS").elements()).hasSize(1);
        }
    }

    private Callable<Long> comer(int port) {
        return () -> {
            long tries = 0;
            while (!done.get()) {
                tries++;
                try (RawClient client = new RawClient(port)) {
                    if (client.call("AUTH", "u", "pw").text().equals("OK")) {
                        assertThat(client.call("SET", "forbidden", "1").text()).startsWith("NOPERM");
                        assertThat(client.call("GET", "allowed").text()).startsWith("NOPERM");
                    }
                } catch (IOException deletedMeanwhile) {
                    assertThat(deletedMeanwhile).isNotInstanceOf(java.net.SocketTimeoutException.class);
                }
            }
            return tries;
        };
    }
}
