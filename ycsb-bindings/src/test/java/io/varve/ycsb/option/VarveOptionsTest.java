package io.varve.ycsb.option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Options are read from properties, or refused with a message. Confined to the test's thread. */
class VarveOptionsTest {

    @Test
    void withoutPropertiesRecordsAreHashesWithoutTtlOnTheLocalPort() {
        VarveOptions options = parse();
        assertThat(options.host()).isEqualTo("localhost");
        assertThat(options.port()).isEqualTo(6379);
        assertThat(options.password()).isNull();
        assertThat(options.record()).isEqualTo(VarveOptions.RecordForm.HASH);
        assertThat(options.key()).isEqualTo(KeyCoding.YCSB);
        assertThat(options.ttlsMillis()).isEmpty();
        assertThat(options.ttlDistribution()).isEqualTo(VarveOptions.TtlDistribution.UNIFORM);
        assertThat(options.ttlMode()).isEqualTo(VarveOptions.TtlMode.EXPIRE);
        assertThat(options.index()).isEqualTo(VarveOptions.Index.NONE);
        assertThat(options.fieldCount()).isEqualTo(10);
        assertThat(options.pollMicros()).isZero();
    }

    @Test
    void everyPropertyIsRead() {
        VarveOptions options = parse("varve.host", "cache", "varve.port", "7000", "varve.password", "secret",
                "varve.record", "string", "varve.key", "binary8", "varve.ttls", "15, 30,0.25", "varve.ttl.distribution",
                "zipfian", "varve.ttl.mode", "EX", "varve.index", "zset", "varve.seed", "-9", "varve.poll-us",
                "250", "fieldcount", "1");
        assertThat(options.host()).isEqualTo("cache");
        assertThat(options.port()).isEqualTo(7000);
        assertThat(options.password()).isEqualTo("secret");
        assertThat(options.record()).isEqualTo(VarveOptions.RecordForm.STRING);
        assertThat(options.key()).isEqualTo(KeyCoding.BINARY8);
        assertThat(options.ttlsMillis()).containsExactly(15_000L, 30_000L, 250L);
        assertThat(options.ttlDistribution()).isEqualTo(VarveOptions.TtlDistribution.ZIPFIAN);
        assertThat(options.ttlMode()).isEqualTo(VarveOptions.TtlMode.EX);
        assertThat(options.index()).isEqualTo(VarveOptions.Index.ZSET);
        assertThat(options.seed()).isEqualTo(-9);
        assertThat(options.fieldCount()).isEqualTo(1);
        assertThat(options.pollMicros()).isEqualTo(250);
        assertThat(options.toString()).doesNotContain("secret");
    }

    @Test
    void userAndEncryptionAreRead(@TempDir Path folder) throws IOException {
        assertThat(parse().tls()).isNull();
        assertThat(parse().user()).isNull();
        assertThat(parse("varve.tls", "true").tls()).isEqualTo(new TlsOptions(null, TlsOptions.Verify.FULL));
        Path authorities = Files.writeString(folder.resolve("ca.pem"), "");
        VarveOptions options = parse("varve.user", "bench", "varve.password", "secret", "varve.tls", "true",
                "varve.tls.ca", authorities.toString(), "varve.tls.verify", "ca");
        assertThat(options.tls()).isEqualTo(new TlsOptions(authorities, TlsOptions.Verify.CA));
        assertThat(options.user()).isEqualTo("bench");
        assertThat(options.toString()).contains("bench@localhost", "by TLS").doesNotContain("secret");
        assertThatThrownBy(() -> parse("varve.tls", "true", "varve.tls.ca", folder.toString()))
                .hasMessageContaining("varve.tls.ca=").hasMessageContaining("a readable PEM file");
        assertThatThrownBy(() -> parse("varve.tls.ca", authorities.toString()))
                .hasMessageContaining("no value without varve.tls=true");
        assertThatThrownBy(() -> parse("varve.user", "bench"))
                .hasMessage("varve.user=bench: expected no user without a varve.password");
        assertThatThrownBy(() -> parse("varve.tls", "true", "varve.tls.verify", "some"))
                .hasMessage("varve.tls.verify=some: expected full or ca or none");
    }

    @Test
    void clusterAndNearCacheAreRead() {
        assertThat(parse().cluster()).isFalse();
        assertThat(parse().nearCacheRecords()).isZero();
        assertThat(parse("varve.cluster", "TRUE").cluster()).isTrue();
        assertThat(parse("varve.cluster", "true").toString()).contains("localhost:6379 and its cluster");
        VarveOptions options = parse("varve.near.cache", "1000");
        assertThat(options.nearCacheRecords()).isEqualTo(1000);
        assertThat(options.toString()).contains("near cache of 1000 records");
        assertThatThrownBy(() -> parse("varve.cluster", "true", "varve.near.cache", "1000"))
                .hasMessageStartingWith("varve.near.cache=1000: expected 0 with varve.cluster=true");
        assertThatThrownBy(() -> parse("varve.cluster", "true", "varve.poll-us", "50"))
                .hasMessageStartingWith("varve.poll-us=50: expected 0 with varve.cluster=true");
    }

    @Test
    void anEmptyListOfTtlsMeansNone() {
        assertThat(parse("varve.ttls", " ").ttlsMillis()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"varve.port | 70000 | 65535", "varve.port | six | 65535",
            "varve.record | list | hash or string", "varve.key | hex | ycsb or binary8",
            "varve.ttls | 15,,30 | seconds above zero", "varve.ttls | 0 | seconds above zero",
            "varve.ttls | -3 | seconds above zero", "varve.ttls | NaN | seconds above zero",
            "varve.ttls | 0.0001 | seconds above zero", "varve.ttls | 1e10 | seconds above zero",
            "varve.ttl.distribution | normal | uniform or zipfian or constant",
            "varve.ttl.mode | px | expire or ex", "varve.index | list | none or zset",
            "varve.seed | one | a whole number", "varve.poll-us | -1 | 0 to 1000000",
            "varve.poll-us | 1000001 | 0 to 1000000", "varve.cluster | yes | false or true",
            "varve.near.cache | -1 | 0 to 1000000000", "varve.near.cache | 10mb | 0 to 1000000000",
            "varve.tll | 15 | varve.ttls"})
    void parse_badValue_namesValueAndAllowedValues(String name, String value, String allowed) {
        assertThatThrownBy(() -> parse(name, value)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(name + "=" + value).hasMessageContaining(allowed).message().doesNotContain("\n");
    }

    @Test
    void oneCommandForAHashAndItsTtlIsRefused() {
        assertThatThrownBy(() -> parse("varve.ttl.mode", "ex", "varve.ttls", "5"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("varve.ttl.mode=ex is allowed with varve.record=string only");
    }

    private static VarveOptions parse(String... namesAndValues) {
        Properties properties = new Properties();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
        }
        return VarveOptions.parse(properties);
    }
}
