package io.varve.proxy.map;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.varve.cluster.client.ControllerClient;
import io.varve.cluster.controller.Controller;
import io.varve.cluster.controller.ControllerConfig;
import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.proxy.testing.RedisMember;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Tests {@link ControllersMapSource} on real controllers. Its thread reports the maps to a list that copies. */
@Timeout(120)
class ControllersMapSourceIT {
    private static final Duration WITHIN = Duration.ofSeconds(60);
    private static final long DEADLINE_MILLIS = 30_000;
    /** An hour: the source asks by requests only. */
    private static final int NEVER_MILLIS = 3_600_000;
    private static final int OFTEN_MILLIS = 100;
    private static final String A = "a".repeat(40);
    private static final String B = "b".repeat(40);

    @TempDir
    private Path folder;

    private final Logger logger = (Logger) LoggerFactory.getLogger(ControllersMapSource.class);
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final List<SlotTable> reported = new CopyOnWriteArrayList<>();
    private List<ControllerAddress> addresses = List.of();
    @SuppressWarnings("NullAway.Init") // before each test
    private ControllerClient client;

    @BeforeEach
    void connect() throws IOException {
        addresses = List.of(new ControllerAddress("c1", "127.0.0.1", RedisMember.freePort()));
        client = new ControllerClient(addresses, DEADLINE_MILLIS);
        log.list = new CopyOnWriteArrayList<>();
        log.start();
        logger.addAppender(log);
    }

    @AfterEach
    void disconnect() throws IOException {
        client.close();
        logger.detachAppender(log);
    }

    /** Waits until a question has failed. */
    private void awaitWarning() {
        await().atMost(WITHIN).until(() -> log.list.stream()
                .anyMatch(event -> event.getFormattedMessage().startsWith("The slot map is not updated")));
    }

    /** @param name of its folder */
    private Controller start(String name) throws IOException {
        return Controller.start(new ControllerConfig("c1", folder.resolve(name), addresses));
    }

    private long register(String id, int port) throws Exception {
        return client.change(new Command.Register(new Member(id, "127.0.0.1", port, 1, null))).epoch();
    }

    private long assign(int first, int last, String id) throws Exception {
        return client.change(new Command.AssignSlots(List.of(new SlotRange(first, last)), id)).epoch();
    }

    private void awaitEpoch(long epoch) {
        await().atMost(WITHIN).until(() -> !reported.isEmpty() && reported.getLast().map().epoch() >= epoch);
    }

    private void assertThatEpochsRise() {
        assertThat(reported).extracting(table -> table.map().epoch()).doesNotHaveDuplicates().isSorted();
    }

    @Test
    void aSource_asksUntilThereIsAMap_andThenAtRequests() throws Exception {
        try (ControllersMapSource source = new ControllersMapSource(addresses, NEVER_MILLIS)) {
            // No controller runs yet.
            source.start(reported::add);
            awaitWarning();
            try (Controller _ = start("one")) {
                awaitEpoch(register(A, 1));
                long epoch = assign(0, HashSlot.COUNT - 1, A);
                // A request whose question has failed is not repeated.
                await().atMost(WITHIN).until(() -> {
                    source.refresh(new Endpoint("127.0.0.1", 1));
                    return reported.getLast().map().epoch() >= epoch;
                });
                assertThat(reported.getLast().owner(0)).isEqualTo(new Endpoint("127.0.0.1", 1));
                assertThat(reported.getLast().isClustered()).isTrue();
                assertThatEpochsRise();
            }
        }
    }

    @Test
    void whileNoControllerReplies_theLastMapStays_andTheNextOneFollows() throws Exception {
        try (ControllersMapSource source = new ControllersMapSource(addresses, OFTEN_MILLIS)) {
            try (Controller _ = start("one")) {
                register(A, 1);
                register(B, 2);
                long epoch = assign(0, HashSlot.COUNT - 1, A);
                source.start(reported::add);
                awaitEpoch(epoch);
            }
            int maps = reported.size();
            awaitWarning();
            long epoch;
            try (Controller _ = start("one")) {
                // It knows the map already.
                assertThat(client.view().map().epoch()).isEqualTo(reported.getLast().map().epoch());
                assertThat(reported).hasSize(maps);
                client.change(new Command.BeginMigration(List.of(new SlotRange(7, 7)), B));
                epoch = client.change(new Command.AbortMigration(List.of(new SlotRange(7, 7)))).epoch();
                awaitEpoch(epoch);
            }
            // A migration that was aborted leaves the slot with its owner.
            assertThat(reported.getLast().owner(7)).isEqualTo(new Endpoint("127.0.0.1", 1));
            assertThatEpochsRise();
        }
    }

    /** These are other controllers at the same address, or some whose data was lost. */
    @Test
    void anOlderMap_isNotReported() throws Exception {
        try (ControllersMapSource source = new ControllersMapSource(addresses, OFTEN_MILLIS)) {
            long epoch;
            try (Controller _ = start("one")) {
                register(A, 1);
                epoch = assign(0, HashSlot.COUNT - 1, A);
                source.start(reported::add);
                awaitEpoch(epoch);
            }
            try (Controller _ = start("two")) {
                assertThat(register(B, 2)).isLessThan(epoch);
                // Further ones, until a newer map is there: all older ones were asked for before.
                long newer = epoch;
                for (int first = 0; newer <= epoch; first++) {
                    newer = assign(first, first, B);
                }
                awaitEpoch(newer);
            }
            assertThatEpochsRise();
            assertThat(reported).noneMatch(table -> table.map().epoch() <= epoch && table.map().member(B) != null);
        }
    }

    @Test
    void aSourceThatIsClosed_reportsNothingAnyMore() throws Exception {
        try (Controller _ = start("one")) {
            ControllersMapSource source = new ControllersMapSource(addresses, OFTEN_MILLIS);
            source.start(reported::add);
            awaitEpoch(register(A, 1));
            source.close();
            int maps = reported.size();
            assign(0, 99, A);
            source.refresh(null);
            assertThat(reported).hasSize(maps);
            assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
                    .doesNotContain("varve-proxy-map");
        }
    }
}
