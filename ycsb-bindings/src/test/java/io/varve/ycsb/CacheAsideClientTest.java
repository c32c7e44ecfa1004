package io.varve.ycsb;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.stream.IntStream;

import io.varve.ycsb.connection.RefusedException;
import io.varve.ycsb.database.CacheAsideSummary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Tests each call's effect on databases and cache, and refusals. Confined to the test's thread. */
@SuppressWarnings("JdkObsolete") // YCSB asks for a Vector.
class CacheAsideClientTest extends CacheAsideHarness {

    @Test
    void aMissIsFetchedOnceAndPutIntoTheCache() throws DBException {
        CacheAsideClient client = client();
        assertThat(read(client, LOCAL_KEY, Set.of("field1"))).isEqualTo(Map.of("field1", "rest"));
        assertThat(cache.records.get(LOCAL_KEY)).as("the whole record").containsOnlyKeys("field0", "field1");
        assertThat(read(client, LOCAL_KEY, null)).isEqualTo(Map.of("field0", "old", "field1", "rest"));
        assertThat(read(client, LOCAL_KEY, Set.of("field0"))).isEqualTo(Map.of("field0", "old"));
        assertThat(read(client, REMOTE_KEY, null)).isEqualTo(Map.of("field0", "old", "field1", "rest"));
        assertThat(cache.classes).isEqualTo(Map.of(LOCAL_KEY, 3, REMOTE_KEY, 6));
        CacheAsideSummary summary = summary();
        assertThat(summary.hits()).isEqualTo(2);
        assertThat(summary.misses()).isEqualTo(2);
        assertThat(summary.missRatio()).isEqualTo(0.5);
        assertThat(summary.fills()).isEqualTo(2);
        assertThat(summary.local().fetches()).isEqualTo(1);
        assertThat(summary.remote().fetches()).isEqualTo(1);
        assertThat(summary.remote().penalties()).isEqualTo(1);
        assertThat(delays).containsExactly(120_000L, 1_000_000L);
    }

    @Test
    void eachRecordIsInTheDatabaseOfItsKey() throws SQLException {
        assertThat(count(LOCAL_URL, "usertable WHERE ycsb_key = '" + LOCAL_KEY + "'")).isEqualTo(1);
        assertThat(count(LOCAL_URL, "usertable")).isEqualTo(1);
        assertThat(count(REMOTE_URL, "usertable WHERE ycsb_key = '" + REMOTE_KEY + "'")).isEqualTo(1);
        assertThat(count(REMOTE_URL, "usertable")).isEqualTo(1);
    }

    @Test
    void aRecordThatIsNotThereIsNotFoundAndNotCached() throws DBException {
        CacheAsideClient client = client();
        assertThat(client.read("usertable", "nobody", null, new HashMap<>())).isEqualTo(Status.NOT_FOUND);
        assertThat(client.update("usertable", "nobody", values("field0", "a"))).isEqualTo(Status.NOT_FOUND);
        assertThat(client.delete("usertable", "nobody")).isEqualTo(Status.NOT_FOUND);
        assertThat(cache.records).isEmpty();
        assertThat(summary().misses()).isEqualTo(1);
        assertThat(summary().fills()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"insert", "update", "delete"})
    void aWriteTakesTheRecordOutOfTheCache(String operation) throws DBException {
        CacheAsideClient client = client();
        read(client, REMOTE_KEY, null);
        write(client, operation, REMOTE_KEY);
        assertThat(cache.records).isEmpty();
        assertThat(read(client, REMOTE_KEY, null)).isEqualTo(after(operation));
        assertThat(summary().invalidations()).isEqualTo(1);
    }

    @Test
    void aWriteThatFailsTakesTheRecordOutToo() throws DBException, SQLException {
        execute(LOCAL_URL, "ALTER TABLE usertable ALTER COLUMN field0 VARBINARY(10)");
        CacheAsideClient reader = client();
        CacheAsideClient writer = client();
        read(reader, LOCAL_KEY, null);
        String tooLong = "x".repeat(11);
        String reported = reported(() -> assertThat(writer.update("usertable", LOCAL_KEY, values("field0", tooLong)))
                .isEqualTo(Status.ERROR));
        assertThat(reported).contains("update failed").contains("varve.db.local.url=jdbc:h2:mem:cache-aside-local")
                .hasSizeLessThan(1000);
        assertThat(cache.records).isEmpty();
        // And a fetch from before is not put in after it.
        duringDelays.add(() -> writer.update("usertable", LOCAL_KEY, values("field0", tooLong)));
        assertThat(read(reader, LOCAL_KEY, null)).containsEntry("field0", "old");
        assertThat(cache.records).isEmpty();
        assertThat(summary().local().failures()).isEqualTo(2);
    }

    @Test
    void aDatabaseThatFailsIsAnErrorAndNothingIsCached() throws DBException, SQLException {
        CacheAsideClient client = client();
        execute(REMOTE_URL, "DROP TABLE usertable");
        String reported = reported(() -> {
            assertThat(client.read("usertable", REMOTE_KEY, null, new HashMap<>())).isEqualTo(Status.ERROR);
            assertThat(client.insert("usertable", REMOTE_KEY, values("field0", "a"))).isEqualTo(Status.ERROR);
            assertThat(client.delete("usertable", REMOTE_KEY)).isEqualTo(Status.ERROR);
            assertThat(client.scan("usertable", "user", 5, null, new Vector<>())).isEqualTo(Status.ERROR);
        });
        assertThat(reported.lines()).singleElement().asString().startsWith("varve: read failed in thread ")
                .contains("varve.db.remote.url=jdbc:h2:mem:cache-aside-remote: ").containsIgnoringCase("usertable");
        assertThat(cache.records).isEmpty();
        assertThat(summary().remote().failures()).isEqualTo(4);
        assertThat(read(client, LOCAL_KEY, null)).as("of the other one").containsEntry("field0", "old");
    }

    @Test
    void databaseIsReopenedAfterItsReturn(@TempDir Path directory) throws DBException, SQLException {
        String url = "jdbc:h2:file:" + directory.resolve("far");
        CacheAsideClient loader = client("dotransactions", "false", "varve.db.remote.url", url);
        loader.insert("usertable", REMOTE_KEY, values("field0", "kept"));
        cleanUp();
        CacheAsideClient client = client("varve.db.remote.url", url);
        read(client, REMOTE_KEY, null);
        cache.records.clear();
        execute(url, "SHUTDOWN");
        assertThat(client.read("usertable", REMOTE_KEY, null, new HashMap<>())).isEqualTo(Status.ERROR);
        assertThat(read(client, REMOTE_KEY, null)).isEqualTo(Map.of("field0", "kept"));
    }

    @Test
    void aCacheThatFailsIsAnError() throws DBException {
        CacheAsideClient client = client();
        cache.refusesReads = true;
        assertThat(reported(() -> assertThat(client.read("usertable", LOCAL_KEY, null, new HashMap<>()))
                .isEqualTo(Status.ERROR))).contains("read failed").contains("OOM it is full");
        cache.refusesReads = false;
        cache.refusesRemoves = true;
        CacheAsideClient writer = client();
        assertThat(reported(() -> assertThat(writer.update("usertable", LOCAL_KEY, values("field0", "a")))
                .isEqualTo(Status.ERROR)))
                .contains("update failed").contains("the cache may still have the old one: OOM it is full");
    }

    @Test
    void recordRefusedByCacheIsStillReturned() throws DBException {
        CacheAsideClient client = client();
        cache.refusesWrites = true;
        String reported = reported(() -> assertThat(read(client, LOCAL_KEY, null)).containsEntry("field0", "old"));
        assertThat(reported).contains("filling the cache failed").contains("OOM it is full");
        assertThat(summary().refusedFills()).isEqualTo(1);
        assertThat(summary().fills()).isZero();
    }

    @Test
    void refusedHintsAreReportedOnceForAllClients() throws DBException {
        cache.refusesHints = true;
        CacheAsideClient client = client();
        CacheAsideClient other = client();
        String reported = reported(() -> {
            read(client, LOCAL_KEY, null);
            read(other, REMOTE_KEY, null);
        });
        assertThat(reported.lines()).singleElement().asString().startsWith("varve: varve.penalty.hint=true: ")
                .contains("ERR penalties are not tracked");
        assertThat(cache.records).containsOnlyKeys(LOCAL_KEY, REMOTE_KEY);
        assertThat(summary().unhintedFills()).isEqualTo(2);
        assertThat(summary().fills()).isEqualTo(2);
    }

    /** JDBC treats 0 as no limit. */
    @Test
    void aScanOfNothingIsABadRequest() throws DBException {
        CacheAsideClient client = client();
        Vector<HashMap<String, ByteIterator>> result = new Vector<>();
        assertThat(client.scan("usertable", "user", 0, null, result)).isEqualTo(Status.BAD_REQUEST);
        assertThat(result).isEmpty();
        assertThat(summary().local().scans()).isZero();
    }

    @Test
    void aScanGoesOverBothDatabasesInTheKeysOrder() throws DBException {
        CacheAsideClient client = client();
        for (int i = 10; i < 40; i++) {
            client.insert("usertable", "user" + i, values("field0", "v" + i));
        }
        Vector<HashMap<String, ByteIterator>> result = new Vector<>();
        delays.clear();
        assertThat(client.scan("usertable", "user12", 20, Set.of("field0"), result)).isEqualTo(Status.OK);
        assertThat(result.stream().map(each -> String.valueOf(each.get("field0")))).containsExactlyElementsOf(
                IntStream.range(12, 32).mapToObj(i -> "v" + i).toList());
        assertThat(delays).as("a round trip to each").containsExactly(120_000L, 1_000_000L);
        result.clear();
        assertThat(client.scan("usertable", "user39", 20, null, result)).isEqualTo(Status.OK);
        assertThat(result).hasSizeLessThanOrEqualTo(3);
        assertThat(cache.records).isEmpty();
    }

    @Test
    void aScanMayBeAReadOfItsFirstRecord() throws DBException {
        CacheAsideClient client = client("varve.scan", "reads");
        for (int i = 0; i < 2; i++) {
            Vector<HashMap<String, ByteIterator>> result = new Vector<>();
            assertThat(client.scan("usertable", REMOTE_KEY, 50, null, result)).isEqualTo(Status.OK);
            assertThat(result).singleElement().satisfies(
                    record -> assertThat(StringByteIterator.getStringMap(record)).containsEntry("field0", "old"));
        }
        assertThat(summary().hits()).isEqualTo(1);
        assertThat(summary().remote().scans()).isZero();
        assertThat(client.scan("usertable", "nobody", 50, null, new Vector<>())).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void theStressRaisesTheRemoteDelayOnly() throws DBException {
        CacheAsideClient client = client("varve.stress.after-operations", "2", "varve.db.local.delay-us", "50",
                "varve.db.remote.delay-us", "300");
        for (int i = 0; i < 2; i++) {
            read(client, LOCAL_KEY, null);
            read(client, REMOTE_KEY, null);
            cache.records.clear();
        }
        assertThat(delays).containsExactly(50_000L, 300_000L, 50_000L, 600_000L);
        CacheAsideSummary summary = summary();
        assertThat(summary.stressed()).isTrue();
        assertThat(summary.operationsBeforeStress()).isEqualTo(2);
        assertThat(summary.remote().delayRequestedNanos()).isEqualTo(900_000);
        assertThat(summary.remote().delayNanos()).as("as it really was, which this one is a microsecond more")
                .isEqualTo(902_000);
        assertThat(summary.remote().delayMaxNanos()).isEqualTo(601_000);
    }

    @Test
    void lastClientPrintsSummaryWithSimulatedDelays() throws DBException {
        CacheAsideClient client = client();
        read(client, LOCAL_KEY, null);
        PrintStream standardOutput = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            cleanUp();
        } finally {
            System.setOut(standardOutput);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8).lines()).contains("[CACHE-ASIDE], Hits, 0",
                "[CACHE-ASIDE], Misses, 1", "[CACHE-ASIDE], MissRatio, 1.00000", "[CACHE-ASIDE], Fills, 1",
                "[CACHE-ASIDE], FillsOvertaken, 0", "[CACHE-ASIDE], FillsUnhinted, 0", "[DATABASE-LOCAL], Fetches, 1",
                "[DATABASE-REMOTE], Fetches, 0",
                "[DATABASE-LOCAL], SimulatedDelayAsked(us), 120.0",
                "[DATABASE-LOCAL], SimulatedDelayMeasured(us), 121.0",
                "[DATABASE-LOCAL], SimulatedDelayLongest(us), 121.0", "[DATABASE-REMOTE], SimulatedDelays, 0")
                .anyMatch(line -> line.startsWith("[DATABASE-LOCAL], MissPenalty(us), "));
        assertThat(summary().misses()).as("after the end").isEqualTo(1);
    }

    @Test
    void cleanupClosesEveryConnection() throws DBException, SQLException {
        client();
        client();
        assertThat(count(LOCAL_URL, "information_schema.sessions")).isEqualTo(3);
        cleanUp();
        assertThat(count(LOCAL_URL, "information_schema.sessions")).isEqualTo(1);
        assertThat(count(REMOTE_URL, "information_schema.sessions")).isEqualTo(1);
        assertThat(cache.closed).isTrue();
    }

    @Test
    void aClientThatDoesNotStartLeavesNothingOpen() throws SQLException {
        CacheAsideClient refused = new CacheAsideClient((options, thread) -> {
            throw new RefusedException("no cache", new IOException());
        }, () -> this::delayed);
        refused.setProperties(properties());
        assertThat(catchThrowableOfType(DBException.class, refused::init)).hasMessage("no cache");
        assertThat(count(LOCAL_URL, "information_schema.sessions")).isEqualTo(1);
        assertThat(count(REMOTE_URL, "information_schema.sessions")).isEqualTo(1);
    }

    @Test
    void aDriverThatIsMissingIsNamedWithoutThePassword() {
        assertThat(catchThrowableOfType(DBException.class,
                () -> client("varve.db.remote.url", "jdbc:nosuch:there?password=secret")))
                .hasMessageContaining("varve.db.remote.url=jdbc:nosuch:there: No suitable driver")
                .hasMessageContaining("class path").message().doesNotContain("secret").doesNotContain("\n");
    }

    @Test
    void aRunWithoutALoadIsRefusedAndMakesNothing(@TempDir Path directory) throws IOException {
        Path databases = directory.resolve("databases");
        Properties properties = properties("varve.db.dir", databases.toString());
        properties.remove("varve.db.local.url");
        properties.remove("varve.db.remote.url");
        assertThat(catchThrowableOfType(DBException.class, () -> client(properties)))
                .hasMessageContaining("varve.db.local.url=jdbc:h2:file:" + databases + "/local: ")
                .hasMessageContaining("not found");
        assertThat(Files.exists(databases)).isFalse();
        assertThat(catchThrowableOfType(DBException.class, () -> client("table", "other")))
                .hasMessageContaining("there is no table other").hasMessageContaining("load phase");
    }

    @Test
    void tableWithOtherFieldsIsRefusedWithCreateStatement() {
        assertThat(catchThrowableOfType(DBException.class,
                () -> client("dotransactions", "false", "fieldcount", "3")))
                .hasMessageContaining("the table is not usable").hasMessageContainingAll("field2",
                        "CREATE TABLE usertable (YCSB_KEY VARCHAR(255) PRIMARY KEY, field0 VARBINARY");
    }

    @Test
    void aFieldThatTheTableDoesNotHaveIsABadRequest() throws DBException {
        CacheAsideClient client = client();
        assertThat(reported(() -> {
            assertThat(client.update("usertable", LOCAL_KEY, values("field7", "a"))).isEqualTo(Status.BAD_REQUEST);
            assertThat(client.read("usertable", LOCAL_KEY, Set.of("x"), new HashMap<>())).isEqualTo(Status.BAD_REQUEST);
        })).contains("table usertable has no field field7: it has field0 to field1");
        assertThat(client.update("usertable", LOCAL_KEY, values())).isEqualTo(Status.BAD_REQUEST);
    }

    @Test
    void moreShapesOfUpdatesThanAreKeptPrepared() throws DBException {
        CacheAsideClient loader = client("dotransactions", "false", "table", "wide", "fieldcount", "50");
        String key = LOCAL_KEY;
        loader.insert("wide", key, values("field0", "a"));
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 50; i++) {
                assertThat(loader.update("wide", key, values("field" + i, "v" + i))).isEqualTo(Status.OK);
            }
        }
        Map<String, String> record = read(loader, key, null);
        assertThat(record).hasSize(50).containsEntry("field49", "v49");
    }

    @Test
    void anOperationWithoutAStartIsRefused() {
        CacheAsideClient client = new CacheAsideClient((options, thread) -> cache, () -> this::delayed);
        clients.add(client);
        assertThat(catchThrowableOfType(IllegalStateException.class,
                () -> client.read("usertable", LOCAL_KEY, null, new HashMap<>()))).hasMessage(
                        "read before init or after cleanup");
    }
}
