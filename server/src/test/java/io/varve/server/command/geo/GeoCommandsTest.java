package io.varve.server.command.geo;

import io.varve.server.command.HarnessTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Geo commands, compared with recorded replies of a real Redis. Confined to the test's thread. */
class GeoCommandsTest extends HarnessTest {
    @BeforeEach
    void twoTowns() {
        assertThat(execute("GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania")).isEqualTo(":2");
    }

    @Test
    void placesHaveScoresDistancesAndHashes() {
        assertThat(execute("ZSCORE g Palermo")).isEqualTo("$16 3479099956230698");
        assertThat(execute("GEODIST g Palermo Catania")).isEqualTo("$11 166274.1516");
        assertThat(execute("GEODIST g Palermo Catania km")).isEqualTo("$8 166.2742");
        assertThat(execute("GEODIST g Palermo Catania MI")).isEqualTo("$8 103.3182");
        assertThat(execute("GEODIST g Palermo Palermo ft")).isEqualTo("$6 0.0000");
        assertThat(execute("GEODIST g Palermo none")).isEqualTo("$-1");
        assertThat(execute("GEODIST none Palermo none")).isEqualTo("$-1");
        assertThat(execute("GEODIST g Palermo Catania yd"))
                .isEqualTo("-ERR unsupported unit provided. please use M, KM, FT, MI");
        assertThat(execute("GEOHASH g Palermo none Catania")).isEqualTo("*3 $11 sqc8b49rny0 $-1 $11 sqdtr74hyu0");
        assertThat(execute("GEOPOS g Palermo none"))
                .isEqualTo("*2 *2 $20 13.36138933897018433 $20 38.11555639549629859 *-1");
        server.run("HELLO 3");
        assertThat(execute("GEOPOS g Catania none"))
                .isEqualTo("*2 *2 ,15.08726745843887329 ,37.50266842333162032 _");
        assertThat(execute("GEODIST g Palermo Catania")).isEqualTo("$11 166274.1516");
        assertThat(execute("GEOHASH none Palermo")).isEqualTo("*1 _");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"GEOADD g XX 1 1 new|:0", "GEOADD g NX CH 1 1 Palermo 2 2 new|:1",
            "GEOADD g CH 1 1 Palermo 2 2 new|:2", "GEOADD g 13.361389 38.115556 Palermo|:0",
            "GEOADD g NX XX 1 1 a|-ERR syntax error", "GEOADD g 1 1 a 1|-ERR syntax error",
            "GEOADD g CH CH CH|-ERR syntax error", "GEOADD g a 1 b|-ERR value is not a valid float",
            "GEOADD g 181 1 b|-ERR invalid longitude,latitude pair 181.000000,1.000000",
            "GEOADD g 1 -1e20 b|-ERR invalid longitude,latitude pair 1.000000,-100000000000000000000.000000",
            "GEOADD g inf -0.0000001 b|-ERR invalid longitude,latitude pair inf,-0.000000",
            "GEOADD g -180 -85.05112878 a 180 85.05112878 b|:2"})
    void placesAreAdded(String command, String reply) {
        assertThat(execute(command)).isEqualTo(reply);
    }

    @Test
    void circlesAreSearched() {
        assertThat(execute("GEORADIUS g 15 37 200 km WITHDIST"))
                .isEqualTo("*2 *2 $7 Palermo $8 190.4424 *2 $7 Catania $7 56.4413");
        assertThat(execute("GEORADIUS g 15 37 200 km ASC")).isEqualTo("*2 $7 Catania $7 Palermo");
        assertThat(execute("GEORADIUS g 15 37 200 km COUNT 1")).isEqualTo("*1 $7 Catania");
        assertThat(execute("GEORADIUS_RO g 15 37 200 km COUNT 1 DESC WITHHASH WITHCOORD")).isEqualTo(
                "*1 *3 $7 Palermo :3479099956230698 *2 $20 13.36138933897018433 $20 38.11555639549629859");
        assertThat(execute("GEORADIUSBYMEMBER g Catania 100 km")).isEqualTo("*1 $7 Catania");
        assertThat(execute("GEORADIUSBYMEMBER_RO g Catania 200000 M DESC")).isEqualTo("*2 $7 Palermo $7 Catania");
        assertThat(execute("GEORADIUSBYMEMBER g none 100 km"))
                .isEqualTo("-ERR could not decode requested zset member");
        assertThat(execute("GEORADIUSBYMEMBER none none abc km")).isEqualTo("*0");
        assertThat(execute("GEORADIUS g 15 37 1 km")).isEqualTo("*0");
        assertThat(execute("GEORADIUS g 15 37 abc km")).isEqualTo("-ERR need numeric radius");
        assertThat(execute("GEORADIUS g 15 37 -1 km")).isEqualTo("-ERR radius cannot be negative");
        assertThat(execute("GEORADIUS_RO g 15 37 1 km STORE d")).isEqualTo("-ERR syntax error");
        assertThat(execute("GEORADIUS g 15 37 200 km COUNT 0")).isEqualTo("-ERR COUNT must be > 0");
        assertThat(execute("GEORADIUS g 15 37 200 km ANY")).isEqualTo("-ERR the ANY argument requires COUNT argument");
        assertThat(execute("GEORADIUS g 15 37 200 km COUNT 1 ANY")).isEqualTo("*1 $7 Palermo");
    }

    @Test
    void rectanglesAreSearched() {
        server.run("GEOADD g 12.758489 38.788135 edge1 17.241510 38.788135 edge2");
        assertThat(execute("GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC")).isEqualTo("*2 $7 Catania $7 Palermo");
        assertThat(execute("GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km ASC WITHDIST")).isEqualTo(
                "*4 *2 $7 Catania $7 56.4413 *2 $7 Palermo $8 190.4424 *2 $5 edge2 $8 279.7403 *2 $5 edge1 $8 279.7405");
        assertThat(execute("GEOSEARCH g FROMMEMBER Catania BYBOX 10 10 km")).isEqualTo("*1 $7 Catania");
        assertThat(execute("GEOSEARCH g FROMLONLAT 15 37 FROMMEMBER Catania BYBOX 1 1 km"))
                .isEqualTo("-ERR syntax error");
        assertThat(execute("GEOSEARCH g BYBOX 1 1 km BYRADIUS 1 m")).isEqualTo("-ERR syntax error");
        assertThat(execute("GEOSEARCH g BYBOX 1 1 km ASC"))
                .isEqualTo("-ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for GEOSEARCH");
        assertThat(execute("geosearch g FROMMEMBER Catania ASC ASC ASC"))
                .isEqualTo("-ERR exactly one of BYRADIUS and BYBOX can be specified for geosearch");
        assertThat(execute("GEOSEARCH g FROMMEMBER Catania BYBOX -1 1 km"))
                .isEqualTo("-ERR height or width cannot be negative");
    }

    @Test
    void searchResultsAreStored() {
        assertThat(execute("GEOSEARCHSTORE d g FROMLONLAT 15 37 BYRADIUS 200 km")).isEqualTo(":2");
        assertThat(execute("ZRANGE d 0 -1 WITHSCORES"))
                .isEqualTo("*4 $7 Palermo $16 3479099956230698 $7 Catania $16 3479447370796909");
        assertThat(execute("GEOSEARCHSTORE d g FROMLONLAT 15 37 BYRADIUS 200 km STOREDIST COUNT 1")).isEqualTo(":1");
        assertThat(execute("ZCOUNT d 56.4412 56.4414")).isEqualTo(":1");
        assertThat(execute("GEORADIUS g 15 37 200 km STORE g")).isEqualTo(":2");
        assertThat(execute("GEORADIUS g 15 37 200 km STORE a STOREDIST b")).isEqualTo(":2");
        assertThat(execute("EXISTS a b")).isEqualTo(":1");
        assertThat(execute("GEORADIUS g 15 37 200 km STORE a WITHDIST")).isEqualTo(
                "-ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options");
        assertThat(execute("GEOSEARCHSTORE d none FROMLONLAT 15 37 BYRADIUS 200 km")).isEqualTo(":0");
        assertThat(execute("EXISTS d")).isEqualTo(":0");
        assertThat(execute("GEORADIUSBYMEMBER g Catania 1 m STORE g")).isEqualTo(":1");
        assertThat(execute("ZRANGE g 0 -1")).isEqualTo("*1 $7 Catania");
        assertThat(execute("COMMAND GETKEYS GEORADIUS g 15 37 200 km STORE a")).isEqualTo("*2 $1 g $1 a");
    }

    /** Scores that are no geohashes are read as C reads them. */
    @Test
    void anyScoreIsAPlace() {
        server.run("ZADD z -1 a inf b -inf c 1e300 d 1e19 e 0 f");
        assertThat(execute("GEOHASH z a b c d e f")).isEqualTo("*6 $11 bp05b5048p0 $11 00bh0hbj200 $11 00bh0hbj200"
                + " $11 00bh0hbj200 $11 bp05b5048p0 $11 00bh0hbj200");
        assertThat(execute("GEOPOS z a b c")).isEqualTo("*3 *2 $3 180 $19 85.0511287799999991"
                + " *2 $22 -179.99999731779098511 $21 -85.05112751263942528 *2 $3 180 $21 -85.05112751263942528");
    }
}
