package io.varve.ycsb.option;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Properties;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Options of the cache-aside client are read from properties, or refused. Confined to the test's thread. */
class CacheAsideOptionsTest {

    @Test
    void withoutPropertiesTwoFilesOfH2AreBehindTheLocalPort() {
        CacheAsideOptions options = parse();
        assertThat(options.cache()).isEqualTo(VarveOptions.parse(properties("varve.record", "string")));
        assertThat(options.local()).isEqualTo(new DatabaseOptions(Side.LOCAL,
                "jdbc:h2:file:" + Path.of("varve-databases", "local").toAbsolutePath()
                        + ";TRACE_LEVEL_FILE=0;IFEXISTS=TRUE",
                null, null, 120_000, 3));
        assertThat(options.remote()).isEqualTo(new DatabaseOptions(Side.REMOTE,
                "jdbc:h2:file:" + Path.of("varve-databases", "remote").toAbsolutePath()
                        + ";TRACE_LEVEL_FILE=0;IFEXISTS=TRUE",
                null, null, 1_000_000, 6));
        assertThat(options.table().table()).isEqualTo("usertable");
        assertThat(options.table().fields()).hasSize(10).startsWith("field0").endsWith("field9");
        assertThat(options.hint()).isFalse();
        assertThat(options.scan()).isEqualTo(CacheAsideOptions.Scan.DATABASES);
        assertThat(options.stress().never()).isTrue();
        assertThat(options.load()).isFalse();
    }

    @Test
    void clusterRefusesHintsAndMembers() {
        assertThat(parse("varve.cluster", "true").cache().cluster()).isTrue();
        assertThatThrownBy(() -> parse("varve.cluster", "true", "varve.penalty.hint", "true"))
                .hasMessageStartingWith("varve.penalty.hint=true: expected false with varve.cluster=true");
        assertThatThrownBy(() -> parse("varve.cluster", "true", "varve.members", "a:1,b:2"))
                .hasMessageStartingWith("varve.members=a:1,b:2: expected no value with varve.cluster=true");
    }

    @Test
    void everyPropertyIsRead() {
        CacheAsideOptions options = parse("varve.host", "cache", "varve.db.local.url", "jdbc:one:x",
                "varve.db.local.user", "me", "varve.db.local.password", "secret", "varve.db.local.delay-us", "0",
                "varve.db.remote.url", "jdbc:two:y", "varve.db.remote.user", "you", "varve.db.remote.password",
                "hidden",
                "varve.db.remote.delay-us", "2500", "varve.db.field-type", "VARBINARY(200)", "varve.penalty.hint",
                "TRUE", "varve.penalty.class.local", "1", "varve.penalty.class.remote", "2", "varve.scan", "reads",
                "varve.stress.after-operations", "40", "varve.stress.factor", "3", "table", "records", "fieldcount",
                "2", "fieldnameprefix", "f", "varve.key", "binary8", "varve.ttls", "5", "varve.poll-us", "200");
        assertThat(options.cache().pollMicros()).isEqualTo(200);
        assertThat(options.cache().host()).isEqualTo("cache");
        assertThat(options.cache().ttlsMillis()).isEqualTo(List.of(5000L));
        assertThat(options.local()).isEqualTo(new DatabaseOptions(Side.LOCAL, "jdbc:one:x", "me", "secret", 0, 1));
        assertThat(options.remote())
                .isEqualTo(new DatabaseOptions(Side.REMOTE, "jdbc:two:y", "you", "hidden", 2_500_000, 2));
        assertThat(options.table()).isEqualTo(new TableShape("records", List.of("f0", "f1"), "VARBINARY(200)"));
        assertThat(options.hint()).isTrue();
        assertThat(options.scan()).isEqualTo(CacheAsideOptions.Scan.READS);
        assertThat(options.stress()).isEqualTo(new StressOptions(40, StressOptions.NEVER, 3));
        assertThat(options.toString()).doesNotContain("secret").doesNotContain("hidden");
        assertThat(parse("varve.stress.after-seconds", "9").stress())
                .isEqualTo(new StressOptions(StressOptions.NEVER, 9, 2));
    }

    @Test
    void theLoadPhaseMakesTheFilesAndIsNotDelayed() {
        CacheAsideOptions options = parse("dotransactions", "false", "varve.db.dir", "/data");
        assertThat(options.load()).isTrue();
        assertThat(options.local().url()).isEqualTo("jdbc:h2:file:/data/local;TRACE_LEVEL_FILE=0");
        assertThat(options.local().delayNanos()).isZero();
        assertThat(options.remote().delayNanos()).isZero();
    }

    @Test
    void bothFilesMayBeKeptInMemory() {
        CacheAsideOptions options = parse("varve.db.dir", "/data", "varve.db.cache-mb", "3");
        assertThat(options.local().url())
                .isEqualTo("jdbc:h2:file:/data/local;TRACE_LEVEL_FILE=0;IFEXISTS=TRUE;CACHE_SIZE=3072");
        assertThat(options.remote().url()).endsWith(";CACHE_SIZE=3072");
    }

    /** H2 itself reports it: an unknown setting, or one in another unit, would give another number. */
    @Test
    void h2KeepsAsMuchAsConfigured(@TempDir Path directory) throws SQLException {
        CacheAsideOptions options = parse("dotransactions", "false", "varve.db.dir", directory.toString(),
                "varve.db.cache-mb", "3");
        try (Connection connection = DriverManager.getConnection(options.local().url());
                Statement statement = connection.createStatement();
                ResultSet kept = statement.executeQuery("SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS "
                        + "WHERE SETTING_NAME = 'info.CACHE_MAX_SIZE'")) {
            assertThat(kept.next()).isTrue();
            assertThat(kept.getInt(1)).as("MiB").isEqualTo(3);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"varve.record | hash | string", "varve.index | zset | none",
            "varve.near.cache | 10 | 0: this binding measures",
            "varve.db.local.url | h2:mem:x | a URL of JDBC", "varve.db.local.delay-us | -1 | from 0 to 60000000",
            "varve.db.remote.delay-us | 1ms | a whole number", "varve.db.remote.delay-us | 60000001 | 60000000",
            "varve.db.field-type | BLOB; DROP | a binary type", "varve.db.dir | a;b | without ';'",
            "varve.db.cache-mb | -1 | from 0 to 1048576", "varve.db.cache-mb | all | a whole number",
            "varve.penalty.hint | maybe | false or true", "varve.penalty.class.local | 16 | from 0 to 15",
            "varve.penalty.class.remote | slow | a whole number", "varve.scan | index | databases or reads",
            "varve.stress.after-operations | 40% | a whole number", "varve.stress.after-seconds | -1 | a whole number",
            "varve.stress.factor | 0 | from 1 to 1000", "table | user table | letters, digits",
            "fieldnameprefix | 1f | letters, digits", "fieldcount | 1001 | from 1 to 1000",
            "varve.port | six | 65535", "varve.db.locl.url | jdbc:h2:mem:x | varve.db.local.url"})
    void parse_badValue_namesValueAndAllowedValues(String name, String value, String allowed) {
        assertThatThrownBy(() -> parse(name, value)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name + "=" + value).hasMessageContaining(allowed).message().doesNotContain("\n");
    }

    @Test
    void oneDatabaseForBothIsRefused() {
        assertThatThrownBy(() -> parse("varve.db.local.url", "jdbc:x:one", "varve.db.remote.url", "jdbc:x:one"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "varve.db.remote.url=jdbc:x:one: expected a database other than that of varve.db.local.url");
    }

    @Test
    void oneMomentForTheStressIsEnough() {
        assertThatThrownBy(() -> parse("varve.stress.after-seconds", "5", "varve.stress.after-operations", "7"))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("varve.stress.after-seconds=5")
                .hasMessageContaining("varve.stress.after-operations; the latter is 7");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "jdbc:mysql://me:secret@host/db?password=secret | jdbc:mysql:...@host/db",
            "jdbc:h2:mem:x;PASSWORD=secret | jdbc:h2:mem:x", "jdbc:oracle:thin:me/secret@host | jdbc:oracle:...@host",
            "jdbc:postgresql://host/db | jdbc:postgresql://host/db"})
    void noPasswordIsShown(String url, String shown) {
        DatabaseOptions options = parse("varve.db.remote.url", url).remote();
        assertThat(options.shown()).isEqualTo("varve.db.remote.url=" + shown);
        assertThat(options.toString()).doesNotContain("secret");
        assertThat(options.without("no driver for " + url)).isEqualTo("no driver for " + shown);
    }

    private static Properties properties(String... namesAndValues) {
        Properties properties = new Properties();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        return properties;
    }

    private static CacheAsideOptions parse(String... namesAndValues) {
        return CacheAsideOptions.parse(properties(namesAndValues));
    }
}
