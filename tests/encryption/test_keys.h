// Owns: keys that only tests use: they were generated for this file.
// Must never: protect real data.
#pragma once

#include <string_view>

namespace varve::test {

/// An RSA key of 2048 bits.
inline constexpr std::string_view kRsaPrivateKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCaXG79TCwheOf2\n"
    "qAz8z0d/MHmA2Mfokh8M5lZd6sCHxFjhXv38bmiBxzwqIamJqUXZMC2hFOLe/ZXQ\n"
    "QJuizHGm3kX4ZL91tYlsHPZ9IwaFOp0iLWF7Fy6BnCgPp/Y/kaJS9gdioF+/YaXm\n"
    "BjU62sizkrGjut9yiywCvDS5gYmmWgrG1e5ZjE5EBuiNnYiT32AIMuX/OPC+k7hE\n"
    "g3d26T85q7t1RFqsoszlmB2gs4WvTOIIQOzAVCNh4MxwWlGEW6YTmichn+oArzWD\n"
    "36SUq0zsRf95A+mryAfYhDNchOjeBKKZaNoNYWUgDSJHk2Rbb3Sbtrz8krrLCgyL\n"
    "9Be/woQdAgMBAAECggEAC6hec3/Mt2xvrFetv2wSHL929a2pj111vd4peKdRig9g\n"
    "nQi1Ctr1xpNa7l2jdbOUhF4YnBk9NxUUuukeN/HTxYP06dkGAqhGrCUV0oaSJ/6w\n"
    "vlOKEKdECmLWPbR0KwHfLf/Jt/+fq47+3fvrCjpavQEfrFthI7/x/3TiUH5BfJAj\n"
    "P7BeIRyrdqxWD9+3GNG/b4leXfSRz6+Hf4eEjcgrqTaUjFZn9KL5gSl1VmadpPms\n"
    "IiNFzVNsI7P+pIsS0dxEjL3eZvWemWF6t1quMpztANH+Flm8kEx/45t1p8EJ3Ra+\n"
    "NwUEfwKBJoPGnjNnrcGwT4o1D8BgygyuQxEH7ECluwKBgQDQizPDg5ocQh7dQqU/\n"
    "O3enqs/4JF+l5p3i7uGu0Q2r2XItDuka5voh36lOc4PExQq5W37nf109UXQSfYa6\n"
    "dv0S5Gj3Mc8R9ECSb9F1FFG3q2MuHRinq4I9UyYYS9Ft1hfnkNE2TTRm3TxVOQyz\n"
    "NuejgDlX5cGDSjvH0B4cLzuaBwKBgQC9fMwzgBJJAZShLGnYM2fjVNYlT3XQ/4/h\n"
    "BU5nKVmthw5NhLGpfY+7BjGBXhEN0lIIM/cQoKpGFI45fnc/LeX2hEeZ+gEFM8NT\n"
    "0odKdZx0PemFSJV7DI2s7iOetqsR0i39Eclyj6+cHePAGftBLmP4P9mIeClz/wkq\n"
    "CD2VS3K3uwKBgQC2F1XzeY2u7u0UNYUkWUB5XmSJPvllWqCx7fOROWi+jPds8IAJ\n"
    "xXTS7wBeR+7eeU6L2qBMcqFvURgQrRpe5lbDkD022n78JlHbi1dQ65UO0s+fDDji\n"
    "7paiBWBWBp2vUik9QO3shC0lRDfSEiZMtbw8v1FStoLpqH/aUJZ59aQNMQKBgA0N\n"
    "JXt+nMPOihA34Op1T/iGhWF4gaLtl1lmZioQ3Q5ouQF53ErSTS4SlSJV+lK7Y88Q\n"
    "1Tmd91xwWgN3xHrjjG1YWx4t7BgRoqiJXawxQZ94DDeT8kfRa4i3tlheOJY3pddC\n"
    "fF+ZqfzUyjUXFQk+SsB0lWUi8af9rwHoI2W/Fp21AoGAGpUR2QVY2Vyh9kJRcV7f\n"
    "5cNTgk/79oq0EBfnX8K7mzueIb6eYgmGSol9oFtwbcrDyu6ii8fal9Z+jeN/K0A/\n"
    "YrP68kC9STW7jLjyHpwDCJZCLHnFpx5OEvgebByny7nmKm0wH6jf6M3XIDJrYx7J\n"
    "xtbDckHNM8+cXSXDgAmfKh8=\n"
    "-----END PRIVATE KEY-----\n";

/// Its public half.
inline constexpr std::string_view kRsaPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmlxu/UwsIXjn9qgM/M9H\n"
    "fzB5gNjH6JIfDOZWXerAh8RY4V79/G5ogcc8KiGpialF2TAtoRTi3v2V0ECbosxx\n"
    "pt5F+GS/dbWJbBz2fSMGhTqdIi1hexcugZwoD6f2P5GiUvYHYqBfv2Gl5gY1OtrI\n"
    "s5Kxo7rfcossArw0uYGJploKxtXuWYxORAbojZ2Ik99gCDLl/zjwvpO4RIN3duk/\n"
    "Oau7dURarKLM5ZgdoLOFr0ziCEDswFQjYeDMcFpRhFumE5onIZ/qAK81g9+klKtM\n"
    "7EX/eQPpq8gH2IQzXITo3gSimWjaDWFlIA0iR5NkW290m7a8/JK6ywoMi/QXv8KE\n"
    "HQIDAQAB\n"
    "-----END PUBLIC KEY-----\n";

/// The public half of another key of 2048 bits.
inline constexpr std::string_view kOtherRsaPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAoFlKwmgeWcyEsoNTUh05\n"
    "bJPxKCnQelucyV+J9WHbo1rGvesJJ4gTVdDq1bB2PL0mBPFSdQ5k2TyOjNBaJX/z\n"
    "Cn40YGBKKjpiQrSKpqmEgHR4CgzbwQ4ihkhGiP4A1vjMLIDFsr4ZwqPkbq//CkYn\n"
    "sVAI07dDkytp7l1QibnlN6cIpAKTR21C1d91XeQ10DyNXtv5gA0oPuz+Mp9FQPcH\n"
    "wd6G9kKq17vQwugcFFJ6e6Y+YnL3J1VnvrBP0f6gkeT2U04tKNdgwM9oNcRIWFOL\n"
    "1WR78RD+ZQEUu0ZFS1a4s43Bal6+t0VXtIc9mQ8PHdNbqSevp7YRvx6PUneGLa/w\n"
    "+wIDAQAB\n"
    "-----END PUBLIC KEY-----\n";

/// An RSA key of 1024 bits.
inline constexpr std::string_view kSmallRsaPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC5ElNP6DRrfDl9ozyxjbRNTPAA\n"
    "ZZjwVrB+byB+oBLdk2HbnAl8yKpSk522KgTKAnOLSCJLXvCBaxra0XxQpqWTjz0S\n"
    "PWbYzppcD8JqV9IBZenx6EAsiAJa5/jm+1r1dYlQxtsD1TRLQnQanT9rbtiV/zMw\n"
    "jUDZnJ0JBEeqSKVWsQIDAQAB\n"
    "-----END PUBLIC KEY-----\n";

/// A key that is no RSA key.
inline constexpr std::string_view kEllipticPublicKey =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEScCKCEczLUEFjCCim8cNSAc7K+Fc\n"
    "JTfktSocmMDYKgmpxdOKB14/LXeaHF/YM3ST43CwmopIRYe4L5rFdTiNMA==\n"
    "-----END PUBLIC KEY-----\n";

/// kRsaPrivateKey, encrypted with a password.
inline constexpr std::string_view kLockedRsaPrivateKey =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIIFLTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIC4Txlmk/I78CAggA\n"
    "MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBAfn62wghB711e1w6KHlNDaBIIE\n"
    "0NLmM9FaRW3LvK92DsF+hY8py28XqOgJM5CV7fe9l87acSfOQbgbx5YLVdM+a545\n"
    "v6W+4axdzYTiJdxghNAH4Qcp3Y53TEcHMzXdIATQHNa639L7VfvFkK72FwvxVjkz\n"
    "WGLjIM1EKWVQRkAFNs0zutx1pIxOOnfuyOslBJXKkqrXPLaP5mkhEWr2efjCW9xf\n"
    "OKmgDjc6Y5rebBX1LgE7PwI4S9nYafB3chDvCuzjvONQPuBaNgXceCwOoVQaENEz\n"
    "Ce9gc+cbuTb9JAT+H05RgzwFmYxGTDjb+ArmV50tqevbJA6YHNGmnHmA/F9AKfXN\n"
    "IDYTGaFAQHqmwmNeliO8+QskPXynsqPcBNMzDqbfF/4uGqi8qdX9slNHwvsDBk7B\n"
    "ITnraUnH7leQpOvL/N6aXUKDYP9+R3TvlGPf4bTiQyKa18PTvJtbpslG9dLOhAcK\n"
    "7dbqBen9621pK25Bens8A9ZYZK9qWu8Nda03X5tS+nw+tUkkscRQwtZb22mdYgqx\n"
    "BUjFO4V1dnUE1EYFvPovmn0tSZIn603CFdUr0+RreyXevWTtM6amT+e0kVqyKHJH\n"
    "uVW91+iPqo+sleDVH5oHh9/j2m+xH6bZ1PWz/AgZl7ikoABXmONpYXwCmQlGiPno\n"
    "GWscMorLuZ6c8CAyXZ7WTSSVPQ40UZXI0cv0+ta1ck9LJWjVnzlQ9M0RsD5PTr9u\n"
    "ly8ra+FOfzlHVCdT1aWIpMKxe3LR24uKx42LA6Y3/uY+VH9yeNwIp2FT6Dx5C6YV\n"
    "GPEjPrs7ohT7nCygYZP7NvR5bHBbDhz3nubIDXcNX8NmH9TG9VAhVYCXQRU8ZyUv\n"
    "8pCEEchPzWGB7J3IRbUSg+mxBFWHHlaQn7XYlG3o7tPKqpjRZeTSBGTCBbnHu+mF\n"
    "xIcrB9woQKjO6+Cw9eFzsivrm0XjGUc40STz2OqBIYhSTzhzZYEousFpgVV+SoAn\n"
    "YUjW3r0X+jBkAmE5V+QxVxbzoG3/3zZbrBXskV+VV9U57Wds6uXGi185qLqE6pdy\n"
    "DoLSZAXo1bvP+Z2AXCB/iCDS1M95U2ebv9DWXW+pafD+kHolnmRjoao7+5erF047\n"
    "tKUWF9ApzvJJPieAHYZyVUzLL+Ovv3njwyOv41nq32/G0Nz/DKBi7GAjvq4TdwdQ\n"
    "EENwvOMRm79SPSS+teSKPsiDb11NCGpK4eJmZhPNyO3kFiwdVGy5ocRmPbuZPlXi\n"
    "xK+A5Iyi7nw9w1fo8H8dzHn/O+NC071WyAnBCvbunMH8FnMlWEwxT2JKq006IfVG\n"
    "lP3NGqVPKx7yZ1/h7x7zn+VEqItJEwuqSbusB3r5fiOnJTZ6UNmH0OAdhzp/mmlP\n"
    "WLM4MVBG8+RXf33RAjmfU3T6NKeq4eqadxpn1ZszWYDcmFUP748nmXbd7kTafgaw\n"
    "qEN8kfTz4/Sdv8vCYchT5s2+kq3njfVghSjTy5dFYNTBLKK2n4di19kB9HhNteC6\n"
    "d++oVvlE2oO9skY/gVzwLNYUYIe7BZZmH92CXTopGKpOlkKhIfi+QCjZYnwz9vnQ\n"
    "whsf39bfxt3A1DtCi5p2VI2y2ActweK2r+zLdRpQJjJCruvcFK7ALawD4CfzKg0j\n"
    "1ZZmXFcOCn+gFBc5ikVntLsd6qgR/1WsiPoLQEC+GaBb\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";

}  // namespace varve::test
